/**
 * `CurrentTask` for a handler that runs, as a task or within a call.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Task from "@effect-mcp-tasks/core/Task"
import type { RejectedReason, TaskRejected } from "@effect-mcp-tasks/core/TaskMachine"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CallProgress } from "../CallProgress.ts"
import { InputUnavailable, type TaskHandle } from "../CurrentTask.ts"
import type { Limits } from "../TaskLimits.ts"
import { ProtocolError } from "../TaskTool.ts"
import type { AttemptCommand, Standing } from "./attempt.ts"
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
  readonly give: (command: AttemptCommand) => Effect.Effect<Result.Result<Task.Task, TaskRejected>>
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
  /** A handler that has lost its task goes no further; one that broke a rule learns which. */
  const give = (command: AttemptCommand) =>
    Effect.flatMap(worker.give(command), Result.match({
      onSuccess: () => worker.standing === "superseded" ? Effect.interrupt : Effect.succeed(worker.task),
      onFailure: ({ reason }) => refused(command._tag, reason)
    }))
  const asking = <A>(key: string, asked: questions.Asked<A>): Effect.Effect<A, InputUnavailable> =>
    Result.isFailure(asked)
      ? Effect.die(new Error(`Question ${key} cannot be put to a client: ${asked.failure}`))
      : put({ worker, limits, journal }, key, asked.success)

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
      return Effect.asVoid(give({ _tag: "Extend", ttlMs: Math.ceil(clampTtl(worker, wanted, limits)) }))
    },
    step: (name, schema, effect) => {
      const codec = Schema.toCodecJson(schema)
      const done = Task.findStep(worker.task, name)
      return done !== undefined
        ? Effect.orDie(Schema.decodeUnknownEffect(codec)(done.value))
        : Effect.tap(effect, (value) =>
          Schema.encodeEffect(codec)(value).pipe(
            Effect.orDie,
            Effect.flatMap((encoded) => bounded(`step ${name}`, encoded, limits)),
            Effect.flatMap((text) =>
              journal.take(name.length + text.length)
                ? give({ _tag: "RecordStep", name, value: JSON.parse(text) as Schema.Json })
                : full(`step ${name}`, limits)
            )
          ))
    },
    elicit: (key, form) => asking(key, questions.elicit(form)),
    elicitUrl: (key, link) => asking(key, questions.elicitUrl(link)),
    sample: (key, request) => asking(key, questions.sample(request)),
    listRoots: (key) => asking(key, Result.succeed(questions.listRoots))
  }
}

/** A key is shown in every poll for as long as its question is open. */
const maxKeyLength = 256

/** Why a question cannot be put to the client; nothing when it can. */
const unavailable = (worker: Worker, key: string, question: questions.Question<unknown>) => {
  if (!questions.isDeclared(worker.task.capabilities, question.requires)) {
    return new InputUnavailable({ key, reason: "NotDeclared", requiredCapabilities: question.requires })
  }
  return worker.mute && new InputUnavailable({ key, reason: "NotRepeatable", requiredCapabilities: worker.mute })
}

const put = Effect.fnUntraced(function*<A>(
  { journal, limits, worker }: Asker,
  key: string,
  question: questions.Question<A>
) {
  if (key === "" || key.length > maxKeyLength) {
    return yield* fatal(`The tool asked a question whose key is not 1 to ${maxKeyLength} characters long`)
  }
  let request = yield* requestOf(key, question, limits)
  // A key is spent by an answer that means nothing, and by being given up: the next one is for the same question.
  for (let issue = 1; true; issue++) {
    const name = issue === 1 ? key : `${key}#${issue}`
    const known = Task.findQuestion(worker.task, name)
    if (known?.state === "withdrawn") continue
    const missing = known?.state === "answered" ? undefined : unavailable(worker, key, question)
    if (missing !== undefined) return yield* missing
    if (known === undefined && !journal.take(name.length + JSON.stringify(request).length)) {
      return yield* full(`question ${key}`, limits)
    }
    const answered = yield* worker.ask({ key: name, request })
    if (Result.isFailure(answered)) {
      if (answered.failure.reason === "KeyWithdrawn") continue
      return yield* refused("Ask", answered.failure.reason)
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

const clampTtl = ({ task }: Worker, wanted: number, limits: Limits): number =>
  Math.max(0, Math.min(wanted, Duration.toMillis(limits.maxTtl) - (task.lastUpdatedAt - task.createdAt)))

const requestOf = (key: string, { method, params }: questions.Question<unknown>, limits: Limits) =>
  params === undefined
    ? Effect.succeed<Task.InputRequest>({ method })
    : Effect.map(
      bounded(`question ${key}`, params, limits),
      (text): Task.InputRequest => ({ method, params: JSON.parse(text) as Schema.JsonObject })
    )

const bounded = (what: string, value: unknown, limits: Limits): Effect.Effect<string> =>
  Result.match(jsonText.encode(value, { maxLength: limits.maxEntryLength, maxDepth: limits.maxJsonDepth }), {
    onFailure: (reason) => fatal(`The ${what} was refused: ${reason}`),
    onSuccess: Effect.succeed
  })

const full = (what: string, { maxJournalLength }: Limits): Effect.Effect<never> =>
  fatal(`The ${what} was refused: with it, the task remembers more than ${maxJournalLength} characters (maxJournalLength)`)

/** Ends the task with words that its client may read. */
const fatal = (message: string): Effect.Effect<never> => Effect.die(new ProtocolError({ code: -32603, message }))

const refused = (command: AttemptCommand["_tag"], reason: RejectedReason): Effect.Effect<never> => {
  switch (reason) {
    case "Terminal":
    case "StaleAttempt":
      return Effect.interrupt
    case "TooManyQuestions":
    case "TooManySteps":
      return fatal(`The tool was stopped: ${reason}`)
    default:
      return Effect.die(new Error(`${command} was refused: ${reason}`))
  }
}
