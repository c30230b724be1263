/**
 * What may be asked of a task. A command is a wish, in the imperative: `TaskMachine.decide` grants or refuses it.
 *
 * Every command carries `at`, the instant in epoch milliseconds at which it is given: the machine has no clock. The
 * commands of a worker carry `attempt`, the fence that they got from `Start`; the commands of a client carry none.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { InputRequest, Instant, Millis, TaskError } from "./Task.ts"

const at = { at: Instant }
const worker = { at: Instant, attempt: Schema.Natural }

/**
 * A worker takes the task: it gets the next attempt number, and all earlier attempts lose the right to write.
 *
 * **Details**
 *
 * Taking a task that is already running means that its attempt is lost: the task's recovery decides. `after` names
 * the attempt that this one is to follow, so that of several workers who take the task at the same moment only one
 * does. `worker` names who takes it, where several workers share a store. Both together name a claim: a worker that
 * has not heard what became of its `Start` says it again, with the same `after`, and goes on with what it has started.
 *
 * **Gotchas**
 *
 * Only before the handler of that attempt has begun: whoever has lost a handler reads the task, and follows the attempt
 * that it finds there.
 *
 * @category models
 * @since 0.1.0
 */
export const Start = Schema.TaggedStruct("Start", {
  ...at,
  after: Schema.optionalKey(Schema.Natural),
  worker: Schema.optionalKey(Schema.NonEmptyString)
})

/**
 * A worker says how far it is, for people to read.
 *
 * @category models
 * @since 0.1.0
 */
export const Report = Schema.TaggedStruct("Report", { ...worker, message: Schema.String })

/**
 * A worker asks the client under a key.
 *
 * @category models
 * @since 0.1.0
 */
export const Ask = Schema.TaggedStruct("Ask", { ...worker, key: Schema.NonEmptyString, request: InputRequest })

/**
 * A worker gives up a question that nobody has answered.
 *
 * @category models
 * @since 0.1.0
 */
export const Withdraw = Schema.TaggedStruct("Withdraw", { ...worker, key: Schema.NonEmptyString })

/**
 * The client answers questions; keys that are not outstanding are ignored (ext-tasks, "Task Update Requests").
 *
 * @category models
 * @since 0.1.0
 */
export const Answer = Schema.TaggedStruct("Answer", {
  ...at,
  responses: Schema.Array(Schema.Struct({ key: Schema.String, response: Schema.Json }))
})

/**
 * A worker remembers the result of a named step.
 *
 * @category models
 * @since 0.1.0
 */
export const RecordStep = Schema.TaggedStruct("RecordStep", {
  ...worker,
  name: Schema.NonEmptyString,
  value: Schema.Json
})

/**
 * A worker asks for at least `ttlMs` milliseconds of life from now on. A life is never shortened.
 *
 * @category models
 * @since 0.1.0
 */
export const Extend = Schema.TaggedStruct("Extend", { ...worker, ttlMs: Millis })

/**
 * A worker's handler has ended with a result, a tool error included.
 *
 * @category models
 * @since 0.1.0
 */
export const Complete = Schema.TaggedStruct("Complete", {
  ...worker,
  result: Schema.String,
  isError: Schema.Boolean
})

/**
 * A worker's handler has ended with a JSON-RPC error.
 *
 * @category models
 * @since 0.1.0
 */
export const Fail = Schema.TaggedStruct("Fail", { ...worker, error: TaskError })

/**
 * A worker's handler has ended because it was interrupted.
 *
 * @category models
 * @since 0.1.0
 */
export const Stop = Schema.TaggedStruct("Stop", worker)

/**
 * A worker hands the task back in good order, since its process is going away.
 *
 * **Details**
 *
 * Not a cancel, and not a lost attempt. Whether the handler may run again is the task's recovery.
 *
 * @category models
 * @since 0.1.0
 */
export const Release = Schema.TaggedStruct("Release", worker)

/**
 * The client wishes the task to stop (ext-tasks, "Task Cancellation").
 *
 * @category models
 * @since 0.1.0
 */
export const Cancel = Schema.TaggedStruct("Cancel", at)

/**
 * The deadline of the task has been reached.
 *
 * @category models
 * @since 0.1.0
 */
export const Expire = Schema.TaggedStruct("Expire", at)

/**
 * What may be asked of a task.
 *
 * @category models
 * @since 0.1.0
 */
export const TaskCommand = Schema.Union([
  Start,
  Report,
  Ask,
  Withdraw,
  Answer,
  RecordStep,
  Extend,
  Complete,
  Fail,
  Stop,
  Release,
  Cancel,
  Expire
])

/**
 * What may be asked of a task.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskCommand = typeof TaskCommand.Type

/**
 * A command that only the holder of the current attempt may give.
 *
 * @category models
 * @since 0.1.0
 */
export type WorkerCommand = Extract<TaskCommand, { readonly attempt: number }>

/**
 * The command of one name.
 *
 * @category models
 * @since 0.1.0
 */
export type Named<Tag extends TaskCommand["_tag"]> = Extract<TaskCommand, { readonly _tag: Tag }>
