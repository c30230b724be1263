/**
 * Messages from a server: text in, one response or notification out.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import type * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/**
 * What a server may send.
 *
 * **Details**
 *
 * `Ignored` is a request: servers of this revision send none, and nothing is ever answered to one (Streamable HTTP,
 * "Receiving Messages").
 *
 * @since 0.1.0
 */
export type Incoming =
  | { readonly _tag: "Success"; readonly id: JsonRpc.Id; readonly result: Schema.JsonObject }
  | { readonly _tag: "Failure"; readonly id: JsonRpc.Id | null; readonly error: WireError.WireError }
  | { readonly _tag: "Notification"; readonly method: string; readonly params: Schema.JsonObject }
  | { readonly _tag: "Ignored"; readonly method: string }

/**
 * Why a text is no message.
 *
 * @since 0.1.0
 */
export interface Unreadable {
  readonly reason: "NotJson" | "Malformed"
  readonly detail: string
}

/** As deep as a server may nest; decoders that recurse stay far from the end of their stack. */
const maxDepth = 512

const malformed = (detail: string): Result.Result<never, Unreadable> => Result.fail({ reason: "Malformed", detail })

/**
 * Reads one message.
 *
 * @since 0.1.0
 */
export const read = (text: string): Result.Result<Incoming, Unreadable> => {
  if (JsonRpc.isDeeperThan(text, maxDepth)) return malformed(`JSON nested deeper than ${maxDepth} levels`)
  const json = Result.try({
    try: (): Schema.Json => JSON.parse(text),
    catch: (): Unreadable => ({ reason: "NotJson", detail: "the answer is not JSON, or was cut off" })
  })
  return Result.isFailure(json) ? Result.fail(json.failure) : message(json.success)
}

const message = (json: Schema.Json): Result.Result<Incoming, Unreadable> => {
  if (!JsonRpc.isJsonObject(json)) return malformed("the answer is not a JSON-RPC message")
  const { error, id, method, params, result } = json
  if (typeof method === "string") {
    return Result.succeed(
      id === undefined
        ? { _tag: "Notification", method, params: JsonRpc.isJsonObject(params) ? params : {} }
        : { _tag: "Ignored", method }
    )
  }
  // Many servers and proxies have errors of their own under that name: only one with a code is JSON-RPC's.
  if (JsonRpc.isJsonObject(error) && typeof error["code"] === "number") {
    return Result.succeed({ _tag: "Failure", id: JsonRpc.isId(id) ? id : null, error: TaskView.readError(error) })
  }
  return JsonRpc.isId(id) && JsonRpc.isJsonObject(result)
    ? Result.succeed({ _tag: "Success", id, result })
    : malformed("the answer is neither a result nor an error")
}
