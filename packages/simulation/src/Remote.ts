/**
 * How a process reaches what all processes share: over a network, to a service that may be away.
 *
 * A call goes out, is done at one moment, and its answer comes back later; each way may be slow or lost, and the caller
 * cannot tell which. A call that was sent is done even when its caller has gone.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Process } from "./Process.ts"
import type { Weather } from "./Weather.ts"
import type { World } from "./World.ts"

/**
 * Sends a call: what is to be done there, and how the caller learns that it failed. What is done must take no time.
 *
 * @since 0.1.0
 */
export type Call = <A, E, E2>(
  effect: Effect.Effect<A, E>,
  fail: (why: string) => Effect.Effect<never, E2>
) => Effect.Effect<A, E | E2>

/**
 * Makes the way of one process to what is shared.
 *
 * @since 0.1.0
 */
export const make = (world: World, weather: Weather, process: Process): Call =>
<A, E, E2>(effect: Effect.Effect<A, E>, fail: (why: string) => Effect.Effect<never, E2>) =>
  Effect.callback<A, E | E2>((resume) => {
    const fate = weather.storeCall(process)
    const { failsAfterMs } = fate
    if (failsAfterMs !== undefined) process.after(failsAfterMs, () => resume(fail(fate.why)))
    if (fate.times === 0) return
    world.after(fate.outMs, () => {
      for (let time = 1; time < fate.times; time++) Effect.runSyncExit(effect)
      const exit: Exit.Exit<A, E> = Effect.runSyncExit(effect)
      if (failsAfterMs === undefined) process.after(fate.backMs, () => resume(exit))
    })
  })
