/**
 * As little of a client as tests need: requests as text, results as JSON, refusals as errors.
 *
 * @since 0.1.0
 */
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as Task from "@effect-mcp-tasks/core/Task"
import type { Reply } from "@effect-mcp-tasks/server/Dispatcher"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * The server answered with a JSON-RPC error.
 *
 * @since 0.1.0
 */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { ...Task.TaskError.fields }) {}

/**
 * Sends a request, and gives back its result.
 *
 * @since 0.1.0
 */
export type Send = (method: string, params: Schema.JsonObject) => Effect.Effect<Schema.JsonObject, Refused>

/**
 * Waits for the reply to a request, in its own way.
 *
 * @since 0.2.0
 */
export type Wait = (method: string, request: Effect.Effect<Reply>) => Effect.Effect<Reply>

/**
 * What a client is like.
 *
 * @since 0.2.0
 */
export interface Options {
  /** What it declares with each request. */
  readonly capabilities: Schema.JsonObject
  readonly wait: Wait
}

const Answer = Schema.fromJsonString(Schema.Union([
  Schema.Struct({ result: Schema.JsonObject }),
  Schema.Struct({ error: Task.TaskError })
]))

/**
 * Makes a client that declares capabilities with each request. What is no answer at all is a defect.
 *
 * @since 0.1.0
 */
export const make = (handle: (body: string) => Effect.Effect<Reply>, { capabilities, wait }: Options): Send => {
  let id = 0
  const _meta = {
    [McpProtocol.MetaKey.protocolVersion]: McpProtocol.ProtocolVersion,
    [McpProtocol.MetaKey.clientCapabilities]: capabilities
  }
  return Effect.fnUntraced(function*(method, params) {
    id += 1
    const request = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })
    const { body } = yield* wait(method, handle(request))
    const answer = yield* Effect.orDie(Schema.decodeUnknownEffect(Answer)(body))
    return "result" in answer ? answer.result : yield* new Refused(answer.error)
  })
}
