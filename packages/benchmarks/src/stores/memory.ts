/**
 * The store in memory: what the codec and the store's own work cost, with no database under them.
 *
 * @since 0.1.0
 */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { ofStore, type Pair } from "./Contestant.ts"

/** Opens the store in memory. */
export const open = (): Promise<Pair> =>
  Promise.resolve({
    store: ofStore("layerMemory", TaskStore.layerMemory),
    bare: undefined,
    settings: "nothing is durable"
  })
