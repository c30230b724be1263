/**
 * `CurrentTask` for a handler that runs as a task.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Task from "@effect-mcp-tasks/core/Task"
import type { RejectedReason } from "@effect-mcp-tasks/core/TaskMachine"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import { type Elicited, type Form, InputUnavailable, type TaskHandle } from "../CurrentTask.ts"
import type { Limits } from "../TaskLimits.ts"
import { ProtocolError } from "../TaskTool.ts"
import * as answers from "./answers.ts"
import type { Attempt, AttemptCommand } from "./attempt.ts"
import * as jsonText from "./jsonText.ts"

/**
 * Makes the handle of one attempt.
 *
 * @since 0.1.0
 */
export const make = (attempt: Attempt, limits: Limits): TaskHandle => {
  /** A handler that has lost its task goes no further; one that broke a rule learns which. */
  const give = (command: AttemptCommand) =>
    Effect.flatMap(attempt.give(command), Result.match({
      onSuccess: () => attempt.standing === "superseded" ? Effect.interrupt : Effect.succeed(attempt.task),
      onFailure: ({ reason }) => refused(command, reason)
    }))

  return {
    taskId: Option.some(attempt.task.taskId),
    attempt: attempt.number,
    report: (message) =>
      Effect.asVoid(give({ _tag: "Report", message: message.slice(0, limits.maxMessageLength) })),
    extend: (ttl) => {
      const wanted = Duration.toMillis(Duration.fromInputUnsafe(ttl))
      return Effect.asVoid(give({ _tag: "Extend", ttlMs: Math.ceil(clampTtl(attempt, wanted, limits)) }))
    },
    step: (name, schema, effect) => {
      const codec = Schema.toCodecJson(schema)
      const done = Task.findStep(attempt.task, name)
      return done !== undefined
        ? Effect.orDie(Schema.decodeUnknownEffect(codec)(done.value))
        : Effect.tap(effect, (value) =>
          Schema.encodeEffect(codec)(value).pipe(
            Effect.orDie,
            Effect.flatMap((encoded) => bounded(`step ${name}`, encoded, limits)),
            Effect.flatMap((encoded) => give({ _tag: "RecordStep", name, value: encoded }))
          ))
    },
    elicit: <A, I>(key: string, form: Form<A, I>) =>
      Effect.gen(function*() {
        const known = Task.findQuestion(attempt.task, key)
        if (known?.state !== "answered" && !declaresForms(attempt)) {
          return yield* new InputUnavailable({ key, reason: "NotDeclared" })
        }
        if (key === "" || key.length > maxKeyLength) {
          return yield* fatal(`The tool asked a question whose key is not 1 to ${maxKeyLength} characters long`)
        }
        const request = yield* requestOf(key, form, limits)
        return yield* decodeAnswer(yield* attempt.ask({ key, request }, give), form)
      })
  }
}

/** A key is shown in every poll for as long as its question is open. */
const maxKeyLength = 256

/** Form mode is declared by `elicitation: { form }` or by an empty `elicitation` (MCP, "Elicitation": capabilities). */
const declaresForms = ({ task }: Attempt): boolean => {
  const declared = Object.hasOwn(task.capabilities, "elicitation") ? task.capabilities["elicitation"] : undefined
  return JsonRpc.isJsonObject(declared) && (Object.hasOwn(declared, "form") || !Object.hasOwn(declared, "url"))
}

const clampTtl = ({ task }: Attempt, wanted: number, limits: Limits): number =>
  Math.max(0, Math.min(wanted, Duration.toMillis(limits.maxTtl) - (task.lastUpdatedAt - task.createdAt)))

const requestOf = <A, I>(key: string, form: Form<A, I>, limits: Limits) => {
  const params = {
    mode: "form",
    message: form.message,
    requestedSchema: Tool.getJsonSchemaFromSchema(form.schema)
  }
  return Effect.flatMap(bounded(`question ${key}`, params, limits), (json) => {
    const request: Task.InputRequest = { method: "elicitation/create", params: json as Schema.JsonObject }
    const schema = answers.schemaOf(request)
    return Result.isFailure(schema)
      ? Effect.die(new Error(`The schema of question ${key} cannot be a form: ${schema.failure}`))
      : Effect.succeed(request)
  })
}

const bounded = (what: string, value: unknown, limits: Limits): Effect.Effect<Schema.Json> =>
  Result.match(jsonText.encode(value, { maxLength: limits.maxEntryLength, maxDepth: limits.maxJsonDepth }), {
    onFailure: (reason) => fatal(`The ${what} was refused: ${reason}`),
    onSuccess: (text) => Effect.succeed(JSON.parse(text) as Schema.Json)
  })

/** Ends the task with words that its client may read. */
const fatal = (message: string): Effect.Effect<never> => Effect.die(new ProtocolError({ code: -32603, message }))

const decodeAnswer = <A, I>(question: Task.Question, form: Form<A, I>): Effect.Effect<Elicited<A>> => {
  const response = question.state === "answered" && JsonRpc.isJsonObject(question.response) ? question.response : {}
  switch (response["action"]) {
    case "accept":
      return Schema.decodeUnknownEffect(Schema.toCodecJson(form.schema))(response["content"]).pipe(
        Effect.map((content): Elicited<A> => ({ action: "accept", content })),
        Effect.catch(() => fatal(`The answer to ${question.key} could not be used`))
      )
    case "decline":
      return Effect.succeed({ action: "decline" })
    default:
      return Effect.succeed({ action: "cancel" })
  }
}

const refused = (command: AttemptCommand, reason: RejectedReason): Effect.Effect<never> => {
  switch (reason) {
    case "Terminal":
    case "StaleAttempt":
      return Effect.interrupt
    case "TooManyQuestions":
    case "TooManySteps":
      return fatal(`The tool was stopped: ${reason}`)
    default:
      return Effect.die(new Error(`${command._tag} was refused: ${reason}`))
  }
}
