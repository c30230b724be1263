/**
 * Who answers a task's questions: a user at a terminal, a file, a function, or nobody.
 *
 * A handler says what it can be asked (`capabilities`, which travel with each request, so that servers do not ask for
 * more) and answers one question at a time. A question is answered once: the client remembers the answer before it
 * sends it.
 *
 * Source: ext-tasks, "Task Update Requests"; client/elicitation; basic/patterns/mrtr.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as form from "./internal/form.ts"
import * as terminalForm from "./internal/terminalForm.ts"
import { InputRefused } from "./TaskClientError.ts"

/**
 * A question, and where it comes from.
 *
 * **Details**
 *
 * `taskId` is `undefined` for a question that a server asks before it makes a task (MRTR). `isRepeated` tells that an
 * earlier process was asked already and ended before it answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputQuestion {
  readonly key: string
  /** `elicitation/create`, `sampling/createMessage`, `roots/list`, or what a later revision may add. */
  readonly method: string
  readonly params: Schema.JsonObject
  readonly server: string
  readonly tool: string | undefined
  readonly taskId: string | undefined
  readonly isRepeated: boolean
}

/**
 * Answers questions. The answer is the result that the question's method has, as JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputHandler<out E = never, out R = never> {
  /** The client capabilities that go with it (basic/index, `clientCapabilities`). */
  readonly capabilities: Schema.JsonObject
  readonly answer: (question: InputQuestion) => Effect.Effect<Schema.JsonObject, E, R>
}

/**
 * Refuses a question, with the reason in words, and the fields of its form that are to blame if there are any.
 *
 * @category errors
 * @since 0.1.0
 */
export const refuse = (
  { key, method, taskId }: InputQuestion,
  detail: string,
  fields?: ReadonlyArray<string>
): Effect.Effect<never, InputRefused> =>
  Effect.fail(
    new InputRefused({
      key,
      method,
      detail,
      ...(taskId === undefined ? {} : { taskId }),
      ...(fields === undefined ? {} : { fields })
    })
  )

/**
 * The answer of a user who does not want to.
 *
 * @category constants
 * @since 0.1.0
 */
export const declined: Schema.JsonObject = { action: "decline" }

const elicitation = "elicitation/create"

const canElicit: Schema.JsonObject = { elicitation: { form: {} } }

type Answer<E, R> = (params: Schema.JsonObject, question: InputQuestion) => Effect.Effect<Schema.JsonObject, E, R>

/**
 * Makes a handler of functions, one for each kind of question it can answer. The others are refused.
 *
 * **Example** (Answering with a form of one's own)
 *
 * ```ts
 * const onInput = InputHandler.make({
 *   elicit: ({ message }) => Effect.as(Console.log(message), { action: "accept", content: { overwrite: true } })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <E = never, R = never>(functions: {
  readonly elicit?: Answer<E, R> | undefined
  readonly sample?: Answer<E, R> | undefined
  readonly listRoots?: Answer<E, R> | undefined
}): InputHandler<E | InputRefused, R> => {
  const { elicit, listRoots, sample } = functions
  const known = new Map([[elicitation, elicit], ["sampling/createMessage", sample], ["roots/list", listRoots]])
  return {
    capabilities: {
      ...(elicit === undefined ? {} : canElicit),
      ...(sample === undefined ? {} : { sampling: {} }),
      ...(listRoots === undefined ? {} : { roots: {} })
    },
    answer: (question) =>
      known.get(question.method)?.(question.params, question) ?? refuse(question, "nobody here answers this kind")
  }
}

const declining = (question: InputQuestion): Effect.Effect<Schema.JsonObject, InputRefused> => {
  switch (question.method) {
    case elicitation:
      return Effect.succeed(declined)
    case "roots/list":
      return Effect.succeed({ roots: [] })
    default:
      return refuse(question, "there is no way to decline this kind")
  }
}

/**
 * Can be asked with a form, and declines.
 *
 * @category handlers
 * @since 0.1.0
 */
export const decline: InputHandler<InputRefused> = { capabilities: canElicit, answer: declining }

/**
 * Cannot be asked, and says so to the server. A question that comes all the same is declined.
 *
 * @category handlers
 * @since 0.1.0
 */
export const none: InputHandler<InputRefused> = { capabilities: {}, answer: declining }

/**
 * Leaves questions to whoever answers them through the task's handle, or from another process.
 *
 * **Gotchas**
 *
 * There is no handle yet when a server asks before it makes a task, so such a question is refused.
 *
 * @category handlers
 * @since 0.1.0
 */
export const manual: InputHandler<InputRefused> = {
  capabilities: canElicit,
  answer: (question) =>
    question.taskId === undefined
      ? refuse(question, "it is asked before there is a task that could wait for an answer")
      : Effect.never
}

/**
 * Reads the form of an elicitation, or refuses the question.
 *
 * **When to use**
 *
 * In a handler that shows forms of its own.
 *
 * @category forms
 * @since 0.1.0
 */
export const readForm = (question: InputQuestion): Result.Result<ReadonlyArray<form.Field>, form.Unusable> => {
  const { method, params } = question
  if (method !== elicitation) return Result.fail({ reason: "unsupported", detail: "it is no elicitation" })
  const { mode = "form" } = params
  return mode === "form"
    ? form.read(params["requestedSchema"])
    : Result.fail({ reason: "unsupported", detail: `mode ${JSON.stringify(mode)} was not offered` })
}

const ownValue = (record: Schema.JsonObject, name: string): Schema.Json | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** What keeps a record from answering a form: values that do not fit, or else fields without one. */
interface Misfit {
  readonly isMissing: boolean
  readonly fields: ReadonlyArray<string>
  readonly detail: string
}

/** The content for a form: `key.field` before `field`, the form's own default last. */
const contentFrom = (
  record: Schema.JsonObject,
  key: string,
  fields: ReadonlyArray<form.Field>
): Result.Result<Schema.JsonObject, Misfit> => {
  const content: Record<string, Schema.Json> = {}
  const missing: Array<string> = []
  const unfit: Array<readonly [field: string, wanted: string]> = []
  for (const field of fields) {
    const { isRequired, name } = field
    const given = ownValue(record, `${key}.${name}`) ?? ownValue(record, name)
    if (given === undefined || given === null) {
      const initial = form.initialOf(field)
      if (initial !== undefined) content[name] = initial
      else if (isRequired) missing.push(name)
      continue
    }
    const value = form.valueOf(field, given)
    if (Result.isFailure(value)) unfit.push([name, value.failure])
    else content[name] = value.success
  }
  // A wrong value is told of before a missing one: it would be wrong however the rest is answered.
  if (unfit.length > 0) {
    const detail = unfit.map(([name, wanted]) => `the answer for ${name} has to be ${wanted}`).join("; ")
    return Result.fail({ isMissing: false, fields: unfit.map(([name]) => name), detail })
  }
  return missing.length === 0
    ? Result.succeed(content)
    : Result.fail({ isMissing: true, fields: missing, detail: `there is no answer for ${missing.join(", ")}` })
}

/**
 * Answers forms from a record, such as flags or a file have: a field by its name, or by `key.name` where two questions
 * have the same field. Text is turned into what the field takes.
 *
 * **Details**
 *
 * `otherwise` answers what the record cannot, and without it such a question is refused by the name of the field. A
 * value that does not fit its field is refused in any case. `"decline"` under a question's key declines it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromRecord = <E = never, R = never>(
  record: Schema.JsonObject,
  options: { readonly otherwise?: InputHandler<E, R> | undefined } = {}
): InputHandler<E | InputRefused, R> => ({
  capabilities: { ...options.otherwise?.capabilities, ...canElicit },
  answer: (question): Effect.Effect<Schema.JsonObject, E | InputRefused, R> => {
    const { otherwise } = options
    if (ownValue(record, question.key) === "decline") return Effect.succeed(declined)
    const fields = readForm(question)
    if (Result.isFailure(fields)) {
      if (fields.failure.reason === "secret") return Effect.succeed(declined)
      return otherwise?.answer(question) ?? refuse(question, fields.failure.detail)
    }
    const content = contentFrom(record, question.key, fields.success)
    if (Result.isSuccess(content)) return Effect.succeed({ action: "accept", content: content.success })
    const { detail, fields: blamed, isMissing } = content.failure
    return isMissing && otherwise !== undefined ? otherwise.answer(question) : refuse(question, detail, blamed)
  }
})

const JsonFile = Schema.fromJsonString(Schema.JsonObject)

/**
 * Answers forms from a file of JSON, as `fromRecord` does. The file is read once, here.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromFile = <E = never, R = never>(
  path: string,
  options: { readonly otherwise?: InputHandler<E, R> | undefined } = {}
): Effect.Effect<
  InputHandler<E | InputRefused, R>,
  PlatformError.PlatformError | Schema.SchemaError,
  FileSystem.FileSystem
> =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(path)),
    Effect.flatMap(Schema.decodeEffect(JsonFile)),
    Effect.map((record) => fromRecord(record, options))
  )

/** One user has one terminal, however many tasks ask. */
const turn = Semaphore.makeUnsafe(1)

/**
 * Asks the user at the terminal, with a form that is shown for review before it is sent.
 *
 * **Details**
 *
 * It says which server asks, and for which tool; text from the server is shown without control characters. Fields are
 * checked as they are entered. A form that asks for a secret is declined, and the user is told. Escape and Ctrl-C
 * dismiss the question (`cancel`). Questions of several tasks come one after the other.
 *
 * @category handlers
 * @since 0.1.0
 */
export const terminal: InputHandler<InputRefused, Prompt.Environment> = {
  capabilities: canElicit,
  answer: (question) => {
    if (question.method !== elicitation) return declining(question)
    return turn.withPermits(1)(terminalForm.ask(question, readForm(question)))
  }
}
