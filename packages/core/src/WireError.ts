/**
 * JSON-RPC errors as values, each with the HTTP status that goes with it.
 *
 * Guarantee: only codes this protocol revision defines are built here, `-32021` and `-32022` always carry the `data`
 * the schema demands, and the HTTP status of an error is 200, 400 or 404, never another.
 *
 * Source: basic/index, Error Codes; basic/transports/streamable-http, Server Validation.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import { TasksExtension } from "./McpProtocol.ts"

/**
 * A JSON-RPC error object.
 *
 * @since 0.1.0
 */
export interface WireError {
  readonly code: number
  readonly message: string
  readonly data?: Schema.Json
}

/**
 * The HTTP statuses a JSON-RPC error may travel with.
 *
 * @since 0.1.0
 */
export type HttpStatus = 200 | 400 | 404

/**
 * The answer to a message that is not served: the error, the request it answers and the HTTP status.
 *
 * **Gotchas**
 *
 * `id` is `null` when the message had no id that could be read, or answered nothing (a response, a notification).
 *
 * @since 0.1.0
 */
export interface Refusal {
  readonly httpStatus: HttpStatus
  readonly id: string | number | null
  readonly error: WireError
}

/**
 * Every JSON-RPC error code this package emits.
 *
 * @since 0.1.0
 */
export const Code = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022
} as const

const make = (code: number, message: string, data: Schema.Json | undefined): WireError =>
  data === undefined ? { code, message } : { code, message, data }

/**
 * Builds the error for text that is not JSON (-32700, HTTP 400).
 *
 * @since 0.1.0
 */
export const parseError = (message: string): WireError => make(Code.ParseError, message, undefined)

/**
 * Builds the error for JSON that is not one request or notification (-32600, HTTP 400).
 *
 * @since 0.1.0
 */
export const invalidRequest = (message: string): WireError => make(Code.InvalidRequest, message, undefined)

/**
 * Builds the error for a method the server does not implement (-32601, HTTP 404).
 *
 * @since 0.1.0
 */
export const methodNotFound = (message: string): WireError => make(Code.MethodNotFound, message, undefined)

/**
 * Builds the error for params that do not fit the method (-32602, HTTP 200).
 *
 * **Gotchas**
 *
 * A missing or malformed required `_meta` field has the same code but must travel with HTTP 400, which
 * {@link httpStatus} cannot know: pass the status to {@link refusal} there.
 *
 * @since 0.1.0
 */
export const invalidParams = (message: string, data?: Schema.Json): WireError => make(Code.InvalidParams, message, data)

/**
 * Builds the error for a failure inside the server (-32603, HTTP 200).
 *
 * **Gotchas**
 *
 * The message goes to the caller, so it names no cause, path or stack.
 *
 * @since 0.1.0
 */
export const internalError = (message: string): WireError => make(Code.InternalError, message, undefined)

/**
 * Builds the error for HTTP headers that are missing, malformed or differ from the body (-32020, HTTP 400).
 *
 * @since 0.1.0
 */
export const headerMismatch = (message: string): WireError => make(Code.HeaderMismatch, message, undefined)

/**
 * Builds the error for a capability this request did not declare (-32021, HTTP 400), naming it in
 * `data.requiredCapabilities`.
 *
 * @since 0.1.0
 */
export const missingRequiredClientCapability = (
  requiredCapabilities: Schema.JsonObject,
  message = "Missing required client capability"
): WireError => make(Code.MissingRequiredClientCapability, message, { requiredCapabilities })

/**
 * The -32021 error of a request that needed to declare the tasks extension.
 *
 * Source: ext-tasks, Capability Negotiation.
 *
 * @since 0.1.0
 */
export const tasksRequired: WireError = missingRequiredClientCapability(
  { extensions: { [TasksExtension]: {} } },
  `Missing required client capability: extensions["${TasksExtension}"]`
)

/**
 * Builds the -32021 error of a request that needed to declare a client feature.
 *
 * **Details**
 *
 * `detail` narrows the feature to the mode that was missing, for example `{ url: {} }` for URL elicitation.
 *
 * @since 0.1.0
 */
export const featureRequired = (
  feature: "elicitation" | "sampling" | "roots",
  detail: Schema.JsonObject = {}
): WireError => missingRequiredClientCapability({ [feature]: detail }, `Missing required client capability: ${feature}`)

/**
 * Builds the error for a protocol version the server does not speak (-32022, HTTP 400), with `data.supported` and
 * `data.requested`.
 *
 * @since 0.1.0
 */
export const unsupportedProtocolVersion = (supported: ReadonlyArray<string>, requested: string): WireError =>
  make(Code.UnsupportedProtocolVersion, "Unsupported protocol version", { supported, requested })

/** Codes of earlier revisions that may not be sent any more: resource not found, URL elicitation required. */
const retired: ReadonlySet<number> = new Set([-32002, -32042])

/**
 * Tells whether a tool may send an error of its own under its code.
 *
 * **Details**
 *
 * It may not under a code that the protocol reserves for itself (-32099 to -32020) or has retired. Of those that the
 * protocol defines, -32021 may be a tool's when it says what is missing, as that is what it means; -32020 and -32022
 * are about the request, which has been admitted when a tool runs.
 *
 * @since 0.2.0
 */
export const mayBeOfATool = ({ code, data }: WireError): boolean => {
  if (code === Code.MissingRequiredClientCapability) return isObject(data) && isObject(data["requiredCapabilities"])
  return (code > -32020 || code < -32099) && !retired.has(code)
}

const isObject = (value: Schema.Json | undefined): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Returns the HTTP status that goes with an error code; a code not listed in {@link Code} goes with 200.
 *
 * @since 0.1.0
 */
export const httpStatus = (error: WireError): HttpStatus => {
  switch (error.code) {
    case Code.ParseError:
    case Code.InvalidRequest:
    case Code.HeaderMismatch:
    case Code.MissingRequiredClientCapability:
    case Code.UnsupportedProtocolVersion:
      return 400
    case Code.MethodNotFound:
      return 404
    default:
      return 200
  }
}

/**
 * Pairs an error with the request it answers, and with its HTTP status unless another one is given.
 *
 * @since 0.1.0
 */
export const refusal = (
  id: string | number | null,
  error: WireError,
  status: HttpStatus = httpStatus(error)
): Refusal => ({ httpStatus: status, id, error })
