/**
 * "This task changed, look again." A hint between fibers and between processes, and nothing more.
 *
 * Signals may be lost, doubled or late: whoever waits for one also looks again on a heartbeat, so that a lost signal
 * costs time and never correctness.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"

/**
 * "This task changed, look again."
 *
 * @category services
 * @since 0.1.0
 */
export class TaskSignal extends Context.Service<TaskSignal, {
  /** Says that a task has changed. Never fails and never waits for anyone. */
  readonly publish: (taskId: string) => Effect.Effect<void>
  /** Hears of every task that changes from now on, until the scope closes. */
  readonly subscribe: Effect.Effect<PubSub.Subscription<string>, never, Scope.Scope>
}>()("@effect-mcp-tasks/engine/TaskSignal") {}

/** A subscriber that falls further behind than this loses the oldest hints, not memory. */
const backlog = 16_384

/**
 * Carries signals within one process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<TaskSignal> = Layer.effect(
  TaskSignal,
  Effect.gen(function*() {
    const hub = yield* Effect.acquireRelease(PubSub.sliding<string>(backlog), PubSub.shutdown)
    return TaskSignal.of({
      publish: (taskId) => Effect.asVoid(PubSub.publish(hub, taskId)),
      subscribe: PubSub.subscribe(hub)
    })
  })
)
