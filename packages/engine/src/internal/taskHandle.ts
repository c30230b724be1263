/**
 * `CurrentTask` for a handler that runs, as a task or within a call.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Task from "@effect-mcp-tasks/core/Task"
import type { RejectedReason, TaskRejected } from "@effect-mcp-tasks/core/TaskMachine"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { CallProgress } from "../CallProgress.ts"
import { InputUnavailable, type TaskHandle } from "../CurrentTask.ts"
import type { Limits } from "../TaskLimits.ts"
import { ProtocolError } from "../TaskTool.ts"
import type { AttemptCommand, Given, Standing } from "./attempt.ts"
import * as brief from "./brief.ts"
import * as bulk from "./bulk.ts"
import { JournalBudget } from "./journalBudget.ts"
import * as jsonText from "./jsonText.ts"
import * as questions from "./questions.ts"

/**
 * Whoever runs a handler, as the handler's handle needs it.
 *
 * @since 0.1.0
 */
export interface Worker {
  readonly taskId: Option.Option<string>
  /** Which attempt this is; 0 where there is no task. */
  readonly number: number
  readonly task: Task.Task
  readonly standing: Standing
  /** What a client would have to declare for a question that this worker cannot put to anybody. */
  readonly mute: Schema.JsonObject | undefined
  readonly give: (given: Given) => Effect.Effect<Result.Result<Task.Task, TaskRejected>>
  /** Asks, and waits for the answer; or the machine's refusal to ask. */
  readonly ask: (question: Put) => Effect.Effect<Result.Result<Task.Question, TaskRejected>>
}

/**
 * A question as it is given to the machine.
 *
 * @since 0.1.0
 */
export interface Put {
  readonly key: string
  readonly request: Task.InputRequest
}

/** Who asks, and within which limits. */
interface Asker {
  readonly worker: Worker
  readonly limits: Limits
  readonly journal: JournalBudget
}

/**
 * Makes the handle of one run.
 *
 * @since 0.1.0
 */
export const make = (worker: Worker, limits: Limits): TaskHandle => {
  const journal = new JournalBudget(worker, limits.maxJournalLength)
  const asker = { worker, limits, journal }
  /** A handler that has lost its task goes no further; one that broke a rule learns which. */
  const give = (command: AttemptCommand, given: Given = command) =>
    Effect.flatMap(worker.give(given), Result.match({
      onSuccess: () => worker.standing === "superseded" ? Effect.interrupt : Effect.succeed(worker.task),
      onFailure: ({ reason }) =>
        refused(worker, { _tag: command._tag, name: "name" in command ? command.name : "" }, reason)
    }))
  const asking = <A>(key: string, asked: questions.Asked<A>): Effect.Effect<A, InputUnavailable> =>
    Result.isFailure(asked)
      ? Effect.die(new Error(`Question ${key} cannot be put to a client: ${asked.failure}`))
      : put(asker, key, asked.success)

  return {
    taskId: worker.taskId,
    attempt: worker.number,
    report: (message, amount) => {
      const reported = give({ _tag: "Report", message: message.slice(0, limits.maxMessageLength) })
      return Option.isSome(worker.taskId)
        ? Effect.asVoid(reported)
        : Effect.andThen(reported, Effect.flatMap(CallProgress, (progress) => progress(message, amount)))
    },
    extend: (ttl) => {
      const wanted = Duration.toMillis(Duration.fromInputUnsafe(ttl))
      const extend = (ttlMs: number) => ({ _tag: "Extend", ttlMs: Math.ceil(ttlMs) } as const)
      return Effect.asVoid(give(extend(wanted), (at) => extend(Math.min(wanted, longest(worker, at, limits)))))
    },
    step: (name, schema, effect) => {
      if (!isName(name)) {
        return fatal(`The tool took a step whose name is not 1 to ${maxKeyLength} characters long`)
      }
      const codec = Schema.toCodecJson(schema)
      const done = Task.findStep(worker.task, name)
      const what = `step ${name}`
      if (done !== undefined) {
        return Effect.catchCause(Effect.suspend(() => Schema.decodeUnknownEffect(codec)(done.value)), (cause) =>
          unfit(asker, { what, reason: "what was stored does not fit its schema any more" }, cause))
      }
      return Effect.tap(effect, (value) =>
        encodedStep(asker, what, { ast: schema.ast, value, encode: Schema.encodeEffect(codec) }).pipe(
          Effect.flatMap((encoded) => bounded(asker, what, encoded)),
          Effect.flatMap((text) =>
            journal.take(name.length + text.length)
              ? give({ _tag: "RecordStep", name, value: JSON.parse(text) as Schema.Json })
              : refuse(worker, { what, ...journal.full })
          )
        ))
    },
    elicit: (key, form) => asking(key, questions.elicit(form)),
    elicitUrl: (key, link) => asking(key, questions.elicitUrl(link)),
    sample: (key, request) => {
      const excess = bulk.refusal(questions.sampleAst, request, entryBounds(limits))
      return excess === undefined
        ? asking(key, questions.sample(request))
        : refuse(worker, { what: `question ${key.slice(0, maxKeyLength)}`, ...excess })
    },
    listRoots: (key) => asking(key, Result.succeed(questions.listRoots))
  }
}

/** A key is shown in every poll for as long as its question is open, and a name is in every message about its step. */
const maxKeyLength = 256

const isName = (key: string): boolean => key !== "" && key.length <= maxKeyLength

/** Why a question cannot be put to the client; nothing when it can. */
const unavailable = (worker: Worker, key: string, question: questions.Question<unknown>) => {
  if (!questions.isDeclared(worker.task.capabilities, question.requires)) {
    return new InputUnavailable({ key, reason: "NotDeclared", requiredCapabilities: question.requires })
  }
  return worker.mute && new InputUnavailable({ key, reason: "NotRepeatable", requiredCapabilities: worker.mute })
}

const put = Effect.fnUntraced(function*<A>(
  asker: Asker,
  key: string,
  question: questions.Question<A>
) {
  if (!isName(key)) {
    return yield* fatal(`The tool asked a question whose key is not 1 to ${maxKeyLength} characters long`)
  }
  const { journal, worker } = asker
  let request = yield* requestOf(asker, key, question)
  // A key is spent by an answer that means nothing, and by being given up: the next one is for the same question.
  for (let issue = 1; true; issue++) {
    const name = issue === 1 ? key : `${key}#${issue}`
    const known = Task.findQuestion(worker.task, name)
    if (known?.state === "withdrawn") continue
    const missing = known?.state === "answered" ? undefined : unavailable(worker, key, question)
    if (missing !== undefined) return yield* missing
    if (known === undefined && !journal.take(name.length + JSON.stringify(request).length)) {
      return yield* refuse(worker, { what: `question ${key}`, ...journal.full })
    }
    const answered = yield* worker.ask({ key: name, request })
    if (Result.isFailure(answered)) {
      if (answered.failure.reason === "KeyWithdrawn") continue
      return yield* refused(worker, { _tag: "Ask", name }, answered.failure.reason)
    }
    const response = responseOf(answered.success)
    if (known?.state !== "answered") journal.count(response)
    const meaning = question.decode(response)
    if (Result.isSuccess(meaning)) return meaning.success
    request = again(request, meaning.failure)
  }
})

const responseOf = (question: Task.Question): Schema.JsonObject =>
  question.state === "answered" && JsonRpc.isJsonObject(question.response) ? question.response : {}

/** Long enough to say what is wrong, too short to make a question of its own. */
const maxReasonLength = 200

/** The same question with the reason why it is asked once more. */
const again = ({ method, params }: Task.InputRequest, reason: string): Task.InputRequest => ({
  method,
  params: { ...params, message: `${String(params?.["message"])} (${reason.slice(0, maxReasonLength)})` }
})

/** How long a task may live yet. It counts from when it was created, and not from when it was last changed. */
const longest = ({ task }: Worker, at: number, { maxTtl }: Limits): number =>
  Math.max(0, Duration.toMillis(maxTtl) - (Math.max(at, task.lastUpdatedAt) - task.createdAt))

const requestOf = (asker: Asker, key: string, { method, params }: questions.Question<unknown>) =>
  params === undefined
    ? Effect.succeed<Task.InputRequest>({ method })
    : Effect.map(
      bounded(asker, `question ${key}`, params),
      (text): Task.InputRequest => ({ method, params: JSON.parse(text) as Schema.JsonObject })
    )

/** What a step or a question may be. */
const entryBounds = ({ maxEntryLength, maxJsonDepth }: Limits): jsonText.Bounds => ({
  maxLength: maxEntryLength,
  maxDepth: maxJsonDepth
})

const bounded = ({ limits, worker }: Asker, what: string, value: unknown): Effect.Effect<string> =>
  Result.match(jsonText.encode(value, entryBounds(limits)), {
    onFailure: ({ cause, reason }) => refuse(worker, { what, reason }, cause),
    onSuccess: Effect.succeed
  })

/** A value of a step, and the schema that it is to be encoded by. */
interface StepValue<A, I> {
  readonly ast: SchemaAST.AST
  readonly value: A
  readonly encode: (value: A) => Effect.Effect<I, Schema.SchemaError>
}

const encodedStep = <A, I>(asker: Asker, what: string, { ast, encode, value }: StepValue<A, I>) => {
  const { limits, worker } = asker
  // Before the schema looks at all of it.
  const excess = bulk.refusal(ast, value, entryBounds(limits))
  if (excess !== undefined) return refuse(worker, { what, ...excess })
  return Effect.catchCause(Effect.suspend(() => encode(value)), (cause) => {
    // The schema of anything says no more than that it is not JSON.
    const text = jsonText.encode(value, entryBounds(limits))
    const thrown = Result.isFailure(text) ? text.failure.cause : undefined
    return thrown === undefined
      ? unfit(asker, { what, reason: "it does not fit the schema of the step" }, cause)
      : unfit(asker, { what, reason: "it cannot be carried by JSON" }, Cause.die(thrown))
  })
}

interface Refused {
  readonly what: string
  readonly reason: string
}

const unfit = ({ worker }: Asker, refused: Refused, cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause) ? Effect.interrupt : refuse(worker, refused, Cause.squash(cause))

/** The client reads which and why; the log has besides what the value threw, for the author of the tool. */
const refuse = ({ task, taskId }: Worker, { reason, what }: Refused, cause?: unknown): Effect.Effect<never> => {
  const message = `The ${what} was refused: ${reason}`
  const log = cause === undefined ? Effect.logError(message) : Effect.logError(message, brief.value(cause))
  const of = { tool: task.tool, ...(Option.isSome(taskId) ? { taskId: taskId.value } : {}) }
  return Effect.andThen(Effect.annotateLogs(log, of), fatal(message))
}

/** Ends the task with words that its client may read. */
const fatal = (message: string): Effect.Effect<never> => Effect.die(new ProtocolError({ code: -32603, message }))

/**
 * Ends a task at once: what else its handler asks is not withdrawn first, one question after the other. A round
 * ends with its handler.
 */
const stopped = (worker: Worker, why: string): Effect.Effect<never> => {
  const error = { code: -32603, message: `The tool was stopped: ${why}` }
  const end = Option.isSome(worker.taskId) ? worker.give({ _tag: "Fail", error }) : Effect.void
  return Effect.andThen(end, fatal(error.message))
}

/** A command, and the name of what it is about. */
interface Named {
  readonly _tag: AttemptCommand["_tag"]
  readonly name: string
}

/** What the machine refused, in words. */
const refused = (worker: Worker, command: Named, reason: RejectedReason): Effect.Effect<never> => {
  const { policy } = worker.task
  switch (reason) {
    case "Terminal":
    case "StaleAttempt":
      return Effect.interrupt
    case "TooManyQuestions":
      return stopped(worker, `it asked more than ${policy.maxQuestions} questions`)
    case "TooManySteps":
      return stopped(worker, `it took more than ${policy.maxSteps} steps`)
    case "KeyReused":
      return fatal(`The tool was stopped: it used the key ${command.name} for another question before`)
    case "StepReused":
      return fatal(`The tool was stopped: it used the name ${command.name} for another step before`)
    default:
      return Effect.die(new Error(`${command._tag} was refused: ${reason}`))
  }
}
