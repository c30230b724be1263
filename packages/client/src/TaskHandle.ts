/**
 * A tool call that has begun: what is happening to it, how it ends, and how to have a say in it.
 *
 * @since 0.1.0
 */
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { NotOutstanding, RequestError, TaskClientError, TaskHandleStoreError } from "./TaskClientError.ts"

/**
 * A tool call that has begun.
 *
 * **Details**
 *
 * A call that the server answered at once is a handle too: it has no `id`, shows no `changes`, and its result is there.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskHandle<out A, out E = never> {
  /** The task's id, to resume it by. None where the server answered without a task. */
  readonly id: Option.Option<string>
  /**
   * The task as it changes, from now to its end: no view twice in a row, none older than one before. It fails with what
   * kept the end from being seen; how the task ended is in the last view.
   */
  readonly changes: Stream.Stream<TaskView.TaskView, TaskClientError | E>
  /** The result. Interrupting this wait stops nothing but the wait. */
  readonly await: Effect.Effect<A, TaskClientError | E>
  /**
   * Answers a question by its key, instead of the input handler. The answer is not checked here.
   */
  readonly answer: (
    key: string,
    response: Schema.JsonObject
  ) => Effect.Effect<void, RequestError | NotOutstanding | TaskHandleStoreError>
  /** Asks the server to cancel the task. It may end otherwise, if its work is done first: `await` tells. */
  readonly cancel: Effect.Effect<void, RequestError>
}
