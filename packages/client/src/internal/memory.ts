/**
 * What is remembered of one open task, written through to the handle store where there is one.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { TaskHandleStoreError } from "../TaskClientError.ts"
import type { RememberedTask, TaskHandleStore } from "../TaskHandleStore.ts"

type Answer = RememberedTask["answers"][number]

/**
 * The memory of one task. Each effect succeeds when the store has it.
 *
 * @since 0.1.0
 */
export interface Memory {
  /** What is known of a question, by its key. */
  readonly find: (key: string) => Answer | undefined
  readonly asked: (key: string) => Effect.Effect<void, TaskHandleStoreError>
  /** Whether this is the answer to a question from now on: the first one is, and no other. */
  readonly answered: (key: string, response: Schema.JsonObject) => Effect.Effect<boolean, TaskHandleStoreError>
  /** The server did not take the answer: there may be another one. */
  readonly refused: (key: string) => Effect.Effect<void, TaskHandleStoreError>
  readonly sent: (key: string) => Effect.Effect<void, TaskHandleStoreError>
  readonly forget: Effect.Effect<void>
}

/**
 * Begins to remember a task, with what an earlier process remembered of it.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  store: TaskHandleStore["Service"] | undefined,
  task: RememberedTask
) {
  const turn = yield* Semaphore.make(1)
  let now = task
  const find = (key: string) => now.answers.find((answer) => answer.key === key)
  const write = (answer?: Answer) => {
    if (answer !== undefined) {
      now = { ...now, answers: [...now.answers.filter(({ key }) => key !== answer.key), answer] }
    }
    return store === undefined ? Effect.void : store.save(now)
  }
  const save = (answer?: Answer) => turn.withPermits(1)(Effect.suspend(() => write(answer)))
  yield* save()
  return {
    find,
    asked: (key) => find(key) === undefined ? save({ key, isSent: false }) : Effect.void,
    answered: (key, response) =>
      turn.withPermits(1)(Effect.suspend(() => {
        const given = find(key)?.response
        return given === undefined || Equal.equals(given, response)
          ? Effect.as(write({ key, response, isSent: false }), true)
          : Effect.succeed(false)
      })),
    refused: (key) => save({ key, isSent: false }),
    sent: (key) => save({ ...find(key), key, isSent: true }),
    // The task's end is known by now; what is left over in the store costs one look when it is resumed.
    forget: store === undefined ? Effect.void : store.remove(now.server, now.taskId).pipe(
      Effect.catch((error) => Effect.logWarning(error.message, error)),
      turn.withPermits(1)
    )
  } satisfies Memory as Memory
})
