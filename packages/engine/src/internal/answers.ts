/**
 * Whether an answer fits the question it was given under: the shape of the reply by its method, and for an accepted
 * form its content against the `requestedSchema`.
 *
 * Declining and cancelling always fit, whatever else the reply carries (MCP, "Elicitation": response actions).
 *
 * @since 0.1.0
 */
import * as InputWire from "@effect-mcp-tasks/core/InputWire"
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { InvalidAnswer } from "../TaskEngineError.ts"
import * as jsonSchema from "./jsonSchema.ts"

/**
 * Gives back the reply as it is to be kept, or says in words what is wrong with it.
 *
 * @since 0.1.0
 */
export const check = (request: Task.InputRequest, response: Schema.Json): Result.Result<Schema.Json, string> => {
  if (!JsonRpc.isJsonObject(response)) return Result.fail("the response must be an object")
  switch (request.method) {
    case "elicitation/create":
      return checkElicitation(request, response)
    case "sampling/createMessage":
      return Result.map(isModelReply(response), () => response)
    case "roots/list":
      return Result.map(isRoots(response), () => response)
  }
}

/**
 * A question with a reply that fits it.
 *
 * @since 0.1.0
 */
export interface Checked {
  readonly key: string
  readonly request: Task.InputRequest
  readonly response: Schema.Json
}

/**
 * The replies to those of the questions that the given ones answer, all of them fitting or none; other keys are
 * ignored.
 *
 * @since 0.1.0
 */
export const checkAll = (
  questions: ReadonlyArray<Pick<Task.Question, "key" | "request">>,
  given: Schema.JsonObject
): Result.Result<ReadonlyArray<Checked>, InvalidAnswer> => {
  const checked: Array<Checked> = []
  for (const { key, request } of questions) {
    const response = Object.hasOwn(given, key) ? given[key] : undefined
    if (response === undefined) continue
    const result = check(request, response)
    if (Result.isFailure(result)) return Result.fail(new InvalidAnswer({ key, message: result.failure }))
    checked.push({ key, request, response: result.success })
  }
  return Result.succeed(checked)
}

/**
 * What the clients of a task may have it remember, of `maxJournalLength`: half of it, so that the other half is its
 * handler's, whatever they answer. Who declines is never refused.
 *
 * @since 0.2.0
 */
export const checkRoom = (
  task: Task.Task,
  checked: ReadonlyArray<Checked>,
  maxJournalLength: number
): Result.Result<ReadonlyArray<Checked>, InvalidAnswer> => {
  const room = Math.floor(maxJournalLength / 2)
  const kept = task.questions.map((question) => question.state === "answered" ? lengthOf(question.response) : 0)
  let used = kept.reduce((sum, length) => sum + length, 0)
  for (const { key, response } of checked) {
    used += lengthOf(response)
    if (used > room && !isRefusal(response)) {
      const message = `the answers to one task may have ${room} characters together, half of maxJournalLength`
      return Result.fail(new InvalidAnswer({ key, message }))
    }
  }
  return Result.succeed(checked)
}

const lengthOf = (response: Schema.Json): number => JSON.stringify(response).length

const isRefusal = (response: Schema.Json): boolean =>
  JsonRpc.isJsonObject(response) && (response["action"] === "decline" || response["action"] === "cancel")

const fits = (schema: Schema.Constraint) => {
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)
  return (value: Schema.Json): Result.Result<void, string> =>
    Result.mapBoth(decode(value), { onFailure: (error) => oneLine(error.message), onSuccess: () => undefined })
}

const isModelReply = fits(InputWire.CreateMessageResult)
const isRoots = fits(InputWire.ListRootsResult)
const isFormContent = fits(InputWire.ElicitContent)

const checkElicitation = (
  request: Task.InputRequest,
  response: Schema.JsonObject
): Result.Result<Schema.Json, string> => {
  const action = response["action"]
  if (action === "decline" || action === "cancel") return Result.succeed({ action })
  if (action !== "accept") return Result.fail("action must be accept, decline or cancel")
  if (request.params?.["mode"] === "url") return Result.succeed({ action })
  const { content } = response
  if (!JsonRpc.isJsonObject(content)) return Result.fail("content must be an object")
  const schema = request.params?.["requestedSchema"]
  return isFormContent(content).pipe(
    Result.flatMap(() => jsonSchema.compile(JsonRpc.isJsonObject(schema) ? schema : {})),
    Result.flatMap((isAsked) => isAsked(content)),
    Result.map(() => ({ action, content }))
  )
}

const oneLine = (message: string): string => message.replaceAll(/\s*\n\s*/g, " ")
