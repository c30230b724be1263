/**
 * As little of a client as the demo needs: one POST for each request, the answer as it came.
 *
 * It decides nothing and repeats nothing. Every request declares what the client can do, as the protocol wants it.
 *
 * @since 0.1.0
 */
import { MetaKey, ProtocolVersion, TasksExtension } from "@effect-mcp-tasks/core/McpProtocol"
import { TaskError } from "@effect-mcp-tasks/core/Task"
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

/**
 * The answer to a request: a result or an error.
 *
 * @since 0.1.0
 */
export const Answer = Schema.Union([
  Schema.Struct({ result: Schema.JsonObject, error: Schema.optionalKey(Schema.Never) }),
  Schema.Struct({ error: TaskError, result: Schema.optionalKey(Schema.Never) })
])

/**
 * The answer to a request: a result or an error.
 *
 * @since 0.1.0
 */
export type Answer = typeof Answer.Type

/**
 * The capabilities of a client that takes tasks and can be asked with a form.
 *
 * @since 0.1.0
 */
export const everything: Schema.JsonObject = { elicitation: { form: {} }, extensions: { [TasksExtension]: {} } }

/**
 * Sends requests to one server.
 *
 * @since 0.1.0
 */
export class DemoClient {
  private readonly url: string
  private readonly capabilities: Schema.JsonObject

  constructor(url: string, capabilities = everything) {
    this.url = url
    this.capabilities = capabilities
  }

  /** `retry` is for a call that was answered with `input_required`: its answers, and its state as it came. */
  readonly callTool = (name: string, args: Schema.JsonObject, retry: Schema.JsonObject = {}) =>
    this.send("tools/call", name, { ...retry, name, arguments: args })

  readonly getTask = (taskId: string) => this.send("tasks/get", taskId, { taskId })

  readonly updateTask = (taskId: string, inputResponses: Schema.JsonObject) =>
    this.send("tasks/update", taskId, { taskId, inputResponses })

  readonly cancelTask = (taskId: string) => this.send("tasks/cancel", taskId, { taskId })

  private readonly send = (method: string, name: string, params: Schema.JsonObject) => {
    const _meta = {
      [MetaKey.protocolVersion]: ProtocolVersion,
      [MetaKey.clientCapabilities]: this.capabilities
    }
    return HttpClientRequest.post(this.url).pipe(
      HttpClientRequest.setHeaders({
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": ProtocolVersion,
        "mcp-method": method,
        "mcp-name": name
      }),
      HttpClientRequest.bodyJsonUnsafe({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
      HttpClient.execute,
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer))
    )
  }
}
