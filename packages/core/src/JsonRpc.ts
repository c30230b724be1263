/**
 * JSON-RPC 2.0 messages: text in, one request or notification out; one line of text back.
 *
 * Guarantee: `parse` never throws and never recurses, whatever the text; what it does not accept it refuses with
 * -32700 or -32600 and the id that could be read. The encoders never parse or re-encode a result, keep the id's JSON
 * type, and always give a single line.
 *
 * Source: basic/index, Messages; basic/transports/streamable-http, Sending Messages.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as WireError from "./WireError.ts"

/**
 * A request id: a string, or an integer that a double holds exactly.
 *
 * @since 0.1.0
 */
export type Id = string | number

/**
 * A message that wants an answer under its `id`.
 *
 * @since 0.1.0
 */
export interface JsonRpcRequest {
  readonly _tag: "Request"
  readonly id: Id
  readonly method: string
  readonly params: Schema.JsonObject | undefined
}

/**
 * A message that wants no answer.
 *
 * @since 0.1.0
 */
export interface JsonRpcNotification {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: Schema.JsonObject | undefined
}

/**
 * What a client may send to a server.
 *
 * @since 0.1.0
 */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification

/**
 * Bounds on an incoming message.
 *
 * **Details**
 *
 * `maxDepth` is the number of arrays and objects that may be open at once, the message itself included.
 *
 * @since 0.1.0
 */
export interface Limits {
  readonly maxDepth: number
}

/**
 * The limits used when none are given: 128 levels.
 *
 * **Details**
 *
 * 128 is what common JSON parsers accept by default, so nothing deeper reaches us through other implementations
 * anyway; it leaves tool arguments 125 levels, and keeps every recursive consumer behind this one (validation,
 * encoding, a store's own JSON functions) far from the end of its stack.
 *
 * @since 0.1.0
 */
export const defaultLimits: Limits = { maxDepth: 128 }

/**
 * Tells a JSON object from every other JSON value.
 *
 * @since 0.1.0
 */
export const isJsonObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Tells whether a value may be a request id or a progress token.
 *
 * **Details**
 *
 * An integer beyond ±(2^53 - 1) is none: reading it rounds it, and the answer would go out under another id.
 *
 * @since 0.1.0
 */
export const isId = (value: Schema.Json | undefined): value is Id =>
  typeof value === "string" || Number.isSafeInteger(value)

const quote = 0x22
const backslash = 0x5c

/** The index of the quote that ends the string opened at `open`, or -1. */
const closingQuote = (text: string, open: number): number => {
  let close = text.indexOf("\"", open + 1)
  while (close !== -1) {
    let before = close - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((close - before) % 2 === 1) return close
    close = text.indexOf("\"", close + 1)
  }
  return -1
}

/**
 * Tells whether JSON text nests arrays and objects deeper than `maxDepth`, by one linear scan.
 *
 * **Details**
 *
 * Brackets inside strings do not count. Text that is not JSON gets some answer and is left to the parser, which stops
 * at the first fault; up to there the count is exact.
 *
 * @since 0.1.0
 */
export const isDeeperThan = (text: string, maxDepth: number): boolean => {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = closingQuote(text, index)
      if (index === -1) return false
    } else if (code === 0x7b || code === 0x5b) {
      depth++
      if (depth > maxDepth) return true
    } else if (code === 0x7d || code === 0x5d) {
      depth--
    }
  }
  return false
}

/**
 * An object with `null` for every array and object in it, by one linear scan: what is too deep for anybody who recurses
 * still has a readable id. Nothing of text that does not close what it opens, or that is no object.
 */
const shallow = (text: string): string | undefined => {
  if (!/^[ \t\n\r]*\{/.test(text)) return undefined
  const kept: Array<string> = []
  let depth = 0
  let from = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = closingQuote(text, index)
      if (index === -1) return undefined
    } else if (code === 0x7b || code === 0x5b) {
      if (depth === 1) kept.push(text.slice(from, index), "null")
      depth++
    } else if (code === 0x7d || code === 0x5d) {
      depth--
      if (depth === 1) from = index + 1
    }
  }
  return depth === 0 ? kept.join("") + text.slice(from) : undefined
}

/** The id of a request that is too deep to be parsed. */
const idOf = (text: string): Id | null => {
  const json = Result.try((): Schema.Json => JSON.parse(shallow(text) ?? "null"))
  if (Result.isFailure(json)) return null
  return Result.match(envelope(json.success), {
    onFailure: ({ id }) => id,
    onSuccess: (message) => message._tag === "Request" ? message.id : null
  })
}

const refuse = (id: Id | null, error: WireError.WireError): Result.Result<never, WireError.Refusal> =>
  Result.fail(WireError.refusal(id, error))

const invalid = (id: Id | null, message: string): Result.Result<never, WireError.Refusal> =>
  refuse(id, WireError.invalidRequest(`Invalid request: ${message}`))

/**
 * Reads one request or notification, or says why the text is none.
 *
 * **Details**
 *
 * Refused with -32700: text that is not JSON (empty, truncated, with a byte order mark). Refused with -32600: any JSON
 * but one object, a batch, a response, a wrong `jsonrpc`, `method`, `id` or `params`, and nesting beyond
 * `limits.maxDepth`. A readable id is echoed even when the rest of the envelope is bad, or something in it is too deep.
 *
 * **Gotchas**
 *
 * - Of a duplicate key the last value counts, as in `JSON.parse`; everything after this function, the header checks
 *   included, sees that value only.
 * - A response is refused under a `null` id: its id names a request of ours, and an error under it could be taken for
 *   the answer to the peer's own request of that number.
 * - `__proto__` is an ordinary key here and changes no prototype. Lone surrogates are kept.
 *
 * @since 0.1.0
 */
export const parse = (
  text: string,
  limits: Limits = defaultLimits
): Result.Result<JsonRpcMessage, WireError.Refusal> => {
  if (isDeeperThan(text, limits.maxDepth)) {
    return invalid(idOf(text), `arrays and objects are nested deeper than ${limits.maxDepth} levels`)
  }
  const json = Result.try({
    try: (): Schema.Json => JSON.parse(text),
    // The parser's own message quotes the text, which may hold secrets.
    catch: () => WireError.refusal(null, WireError.parseError("Parse error: invalid JSON"))
  })
  return Result.isFailure(json) ? Result.fail(json.failure) : envelope(json.success)
}

const envelope = (json: Schema.Json): Result.Result<JsonRpcMessage, WireError.Refusal> => {
  if (Array.isArray(json)) return invalid(null, "batches are not supported, send one message")
  if (!isJsonObject(json)) return invalid(null, "the message must be an object")
  const { id, method, params } = json
  if (method === undefined && (json.result !== undefined || json.error !== undefined)) {
    return invalid(null, "responses are not accepted, send a request or a notification")
  }
  const readable = isId(id) ? id : null
  if (json.jsonrpc !== "2.0") return invalid(readable, "jsonrpc must be \"2.0\"")
  if (id !== undefined && !isId(id)) return invalid(null, "id must be a string or an integer within ±(2^53 - 1)")
  if (typeof method !== "string") return invalid(readable, "method must be a string")
  if (params !== undefined && !isJsonObject(params)) return invalid(readable, "params must be an object")
  return Result.succeed(
    id === undefined ? { _tag: "Notification", method, params } : { _tag: "Request", id, method, params }
  )
}

/** Line breaks in JSON text stand between tokens only, so a blank in their place changes nothing. */
const oneLine = (json: string): string =>
  json.includes("\n") || json.includes("\r") ? json.replace(/[\r\n]/g, " ") : json

const encodeId = (id: Id | null): string => typeof id === "string" ? JSON.stringify(id) : String(id)

/**
 * Encodes the response to a request, around a result that is JSON text already.
 *
 * **Gotchas**
 *
 * `resultJson` is trusted to be the text of one JSON object; it is not looked at, except that line breaks between its
 * tokens become blanks.
 *
 * @since 0.1.0
 */
export const result = (id: Id, resultJson: string): string =>
  `{"jsonrpc":"2.0","id":${encodeId(id)},"result":${oneLine(resultJson)}}`

/**
 * Encodes an error response.
 *
 * **Details**
 *
 * An unreadable id is written as `null`, as JSON-RPC 2.0 section 5 demands.
 *
 * @since 0.1.0
 */
export const error = (id: Id | null, wireError: WireError.WireError): string =>
  `{"jsonrpc":"2.0","id":${encodeId(id)},"error":${JSON.stringify(wireError)}}`

/**
 * Encodes a notification, around params that are JSON text already.
 *
 * @since 0.1.0
 */
export const notification = (method: string, paramsJson: string): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${oneLine(paramsJson)}}`
