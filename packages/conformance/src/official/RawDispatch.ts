/**
 * Carries the official task session's requests over HTTP, since the official client cannot.
 *
 * The official `Client` refuses every result whose `resultType` is not `complete` or `input_required`, so
 * `@modelcontextprotocol/ext-tasks` demands that its host sends `tools/call` and `tasks/*` itself. This is the
 * smallest honest host: one POST per request, the required headers, a JSON or an event-stream answer, and nothing
 * repaired on the way in. A promise boundary by the official library's own types.
 *
 * @since 0.1.0
 */
import type { RawClientDispatch } from "@modelcontextprotocol/ext-tasks/client"
import { DispatchError } from "@modelcontextprotocol/ext-tasks/client"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const Request = Schema.Struct({
  method: Schema.String,
  params: Schema.Struct({
    name: Schema.optionalKey(Schema.String),
    taskId: Schema.optionalKey(Schema.String),
    _meta: Schema.Struct({ "io.modelcontextprotocol/protocolVersion": Schema.String })
  })
})

const Failure = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Json)
})

const Response = Schema.Union([
  Schema.Struct({ jsonrpc: Schema.Literal("2.0"), id: Schema.Int, result: Schema.Json }),
  Schema.Struct({ jsonrpc: Schema.Literal("2.0"), id: Schema.Int, error: Failure })
])

const decodeRequest = Schema.decodeUnknownOption(Request)
const decodeResponse = Schema.decodeUnknownOption(Schema.fromJsonString(Response))

/** Takes the JSON-RPC message out of a body: the whole of it, or the last `data:` line of an event stream. */
const messageOf = (contentType: string | null, body: string): string =>
  contentType?.startsWith("text/event-stream") === true
    ? body.split("\n").findLast((line) => line.startsWith("data:"))?.slice("data:".length) ?? ""
    : body

/**
 * Makes the dispatch of one endpoint.
 *
 * **Details**
 *
 * A JSON-RPC error is an answer whatever its HTTP status. Everything else that is not a JSON-RPC response to this very
 * request rejects with a `DispatchError` that is not retryable: a repeated `tools/call` would do the work twice.
 */
export const make = (url: string): RawClientDispatch => {
  let lastId = 0
  return (request, options) => {
    const decoded = Option.getOrUndefined(decodeRequest(request))
    if (decoded === undefined) return Promise.reject(new DispatchError("The session sent a malformed request"))
    const { method, params } = decoded
    const id = ++lastId
    const name = params.taskId ?? params.name
    return fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": params._meta["io.modelcontextprotocol/protocolVersion"],
        "Mcp-Method": method,
        ...name === undefined ? {} : { "Mcp-Name": name },
        ...options?.context?.headers
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, ...Object(request) }),
      signal: options?.signal ?? null
    }).then((answer) =>
      answer.text().then((body) => {
        const response = Option.getOrUndefined(decodeResponse(messageOf(answer.headers.get("content-type"), body)))
        if (response === undefined || response.id !== id) {
          throw new DispatchError(`${method}: HTTP ${answer.status} without a response to request ${id}: ${body}`)
        }
        return "result" in response
          ? { kind: "result", result: response.result }
          : { kind: "error", error: response.error }
      })
    )
  }
}
