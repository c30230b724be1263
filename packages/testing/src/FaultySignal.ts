/**
 * A real signal that loses, doubles, delays and reorders as a test says. Nothing may break by that: it costs time.
 *
 * @since 0.1.0
 */
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SignalFault } from "./Fault.ts"
import * as faultScript from "./internal/faultScript.ts"
import * as silence from "./internal/silence.ts"

/**
 * Says what goes wrong with the signal that `layer` provides.
 *
 * @category services
 * @since 0.1.0
 */
export class FaultySignal extends Context.Service<FaultySignal, {
  /** Says what happens to the next signals, one fault for each. */
  readonly next: (...faults: ReadonlyArray<SignalFault>) => Effect.Effect<void>
  /** Says what happens to every signal from now on for which `next` says nothing. */
  readonly always: (fault: SignalFault) => Effect.Effect<void>
  /** The tasks that were signalled so far, whatever became of the signals. */
  readonly published: Effect.Effect<ReadonlyArray<string>>
}>()("@effect-mcp-tasks/testing/FaultySignal") {}

const make = Effect.gen(function*() {
  const signal = yield* TaskSignal.TaskSignal
  const script = faultScript.make<"signal", SignalFault>()
  const published: Array<string> = []
  let always: SignalFault | undefined
  const publish = (taskId: string) =>
    Effect.suspend(() => {
      published.push(taskId)
      const publish = signal.publish(taskId)
      const suffered = script.suffer({ keys: ["signal"], otherwise: always }, publish, () => Effect.never)
      // Whoever publishes waits for nobody, least of all for a fault.
      return Effect.asVoid(Effect.forkDetach(silence.unheard(suffered), { startImmediately: true }))
    })
  return Context.make(TaskSignal.TaskSignal, { publish, subscribe: signal.subscribe }).pipe(
    Context.add(FaultySignal, {
      next: (...faults) => script.next("signal", ...faults),
      always: (fault) =>
        Effect.sync(() => {
          always = fault
        }),
      published: Effect.sync(() => [...published])
    })
  )
})

/**
 * Puts faults between whoever publishes and the signal that is provided.
 *
 * **Example**
 *
 * ```ts
 * const signal = FaultySignal.layer.pipe(Layer.provide(TaskSignal.layerMemory))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<TaskSignal.TaskSignal | FaultySignal, never, TaskSignal.TaskSignal> = Layer
  .effectContext(make)
