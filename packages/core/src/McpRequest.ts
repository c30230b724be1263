/**
 * Admission: from the headers and the text of one message to a request that may be dispatched, or the exact refusal.
 *
 * Guarantee: `admit` is pure and never throws. The first rule that a message breaks decides its refusal, in this
 * order: JSON, envelope, `_meta`, version header, supported version, `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`, method,
 * capability. What it admits has a readable id, a known method, complete `_meta` and headers equal to the body, all
 * judged from this message alone.
 *
 * Source: basic/index, Messages and General fields; basic/versioning; basic/transports/streamable-http, Server
 * Validation; ext-tasks, Capability Negotiation and Routing Headers.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as JsonRpc from "./JsonRpc.ts"
import * as McpHeader from "./McpHeader.ts"
import { MetaKey, TasksExtension } from "./McpProtocol.ts"
import * as WireError from "./WireError.ts"

/**
 * The least severity of the log messages a request asks for.
 *
 * @since 0.1.0
 */
export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"

/**
 * What a request says about its sender in `_meta`.
 *
 * **Gotchas**
 *
 * `clientInfo` is self-reported: for display and logs, never for a decision. `traceparent` is any string; whoever
 * continues the trace ignores a malformed one, as W3C Trace Context demands.
 *
 * @since 0.1.0
 */
export interface RequestMeta {
  readonly protocolVersion: string
  readonly clientCapabilities: Schema.JsonObject
  readonly clientInfo: Schema.JsonObject | undefined
  readonly progressToken: JsonRpc.Id | undefined
  readonly traceparent: string | undefined
  readonly logLevel: LogLevel | undefined
}

/**
 * A request that may be dispatched.
 *
 * **Details**
 *
 * `params` is the object as sent, `_meta` included, and not validated further: that is the method's duty.
 * `declaresTasks` tells whether this request declared the tasks extension.
 *
 * @since 0.1.0
 */
export interface AdmittedRequest {
  readonly _tag: "Request"
  readonly id: JsonRpc.Id
  readonly method: string
  readonly params: Schema.JsonObject
  readonly meta: RequestMeta
  readonly declaresTasks: boolean
}

/**
 * A message that may be dispatched.
 *
 * @since 0.1.0
 */
export type Admitted = AdmittedRequest | JsonRpc.JsonRpcNotification

/**
 * One message as a transport received it.
 *
 * **Details**
 *
 * `headers` has lower-case names, and is `undefined` on a transport without headers (stdio): the header rules are
 * skipped there.
 *
 * @since 0.1.0
 */
export interface Input {
  readonly headers: Readonly<Record<string, string | undefined>> | undefined
  readonly body: string
}

/**
 * What admission must know about a method.
 *
 * **Details**
 *
 * `requiresTasks` refuses callers that do not declare the tasks extension. `nameParam` is the parameter that
 * `Mcp-Name` mirrors, if any.
 *
 * @since 0.1.0
 */
export interface Method {
  readonly requiresTasks: boolean
  readonly nameParam?: "name" | "uri" | "taskId"
}

/**
 * What admission must know about the server.
 *
 * **Details**
 *
 * A method that `methods` does not hold does not exist. `paramHeaders` returns the mirrored parameters of a tool, none
 * for an unknown one; build them once with `McpHeader.paramHeaders`.
 *
 * @since 0.1.0
 */
export interface Server {
  readonly supportedVersions: ReadonlyArray<string>
  readonly methods: ReadonlyMap<string, Method>
  readonly paramHeaders?: (toolName: string) => ReadonlyArray<McpHeader.ParamHeader>
  readonly limits?: JsonRpc.Limits
}

const logLevels: ReadonlySet<Schema.Json> = new Set<LogLevel>([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
])

const isLogLevel = (value: Schema.Json): value is LogLevel => logLevels.has(value)

/**
 * Tells whether capabilities declare an extension.
 *
 * **Details**
 *
 * Only an object of settings counts: `null`, `true` or a name in a list do not declare anything, and neither does the
 * `capabilities.tasks` of earlier revisions.
 *
 * @since 0.1.0
 */
export const declaresExtension = (capabilities: Schema.JsonObject, extension: string): boolean => {
  const { extensions } = capabilities
  return JsonRpc.isJsonObject(extensions) && Object.hasOwn(extensions, extension) &&
    JsonRpc.isJsonObject(extensions[extension])
}

const readMeta = (params: Schema.JsonObject): Result.Result<RequestMeta, string> => {
  const meta = params._meta
  if (!JsonRpc.isJsonObject(meta)) return Result.fail("params._meta must be an object")
  const protocolVersion = meta[MetaKey.protocolVersion]
  const clientCapabilities = meta[MetaKey.clientCapabilities]
  const clientInfo = meta[MetaKey.clientInfo]
  const { progressToken, traceparent } = meta
  const logLevel = meta[MetaKey.logLevel]
  if (typeof protocolVersion !== "string") {
    return Result.fail(`_meta["${MetaKey.protocolVersion}"] must be a string`)
  }
  if (!JsonRpc.isJsonObject(clientCapabilities)) {
    return Result.fail(`_meta["${MetaKey.clientCapabilities}"] must be an object`)
  }
  if (clientInfo !== undefined && !JsonRpc.isJsonObject(clientInfo)) {
    return Result.fail(`_meta["${MetaKey.clientInfo}"] must be an object`)
  }
  if (progressToken !== undefined && !JsonRpc.isId(progressToken)) {
    return Result.fail("_meta.progressToken must be a string or an integer")
  }
  if (logLevel !== undefined && !isLogLevel(logLevel)) {
    return Result.fail(`_meta["${MetaKey.logLevel}"] must be a log level`)
  }
  return Result.succeed({
    protocolVersion,
    clientCapabilities,
    clientInfo,
    progressToken,
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    logLevel
  })
}

type Headers = Readonly<Record<string, string | undefined>>

const headerOf = (headers: Headers, name: string): string | undefined =>
  Object.hasOwn(headers, name) ? headers[name] : undefined

const mismatch = (message: string): WireError.WireError => WireError.headerMismatch(`Header mismatch: ${message}`)

/** Header names as transports deliver them. */
const versionKey = McpHeader.HeaderName.protocolVersion.toLowerCase()
const methodKey = McpHeader.HeaderName.method.toLowerCase()
const nameKey = McpHeader.HeaderName.name.toLowerCase()

/** Checks a header that is always required and never encoded. */
const checkPlain = (raw: string | undefined, name: string, body: string): WireError.WireError | undefined => {
  if (raw === undefined) return mismatch(`${name} is missing`)
  // The common case first: most recipients have trimmed the value already.
  if (raw === body) return undefined
  const header = McpHeader.readHeaderValue(raw)
  if (Result.isFailure(header)) return mismatch(`${name} ${header.failure}`)
  return header.success === body ? undefined : mismatch(`${name} does not match the body`)
}

/** Checks a header that may be encoded; the message names the header and never repeats a value. */
const checkMirror = (raw: string, name: string, body: Schema.Json | undefined): WireError.WireError | undefined => {
  const header = McpHeader.decodeHeaderValue(raw)
  if (Result.isFailure(header)) return mismatch(`${name} ${header.failure}`)
  return McpHeader.matches(header.success, body) ? undefined : mismatch(`${name} does not match the body`)
}

/** A name that is no string has no header form: the method refuses it later, unless a header claims one. */
const checkName = (
  headers: Headers,
  nameParam: string,
  params: Schema.JsonObject
): WireError.WireError | undefined => {
  const name = params[nameParam]
  const raw = headerOf(headers, nameKey)
  if (raw !== undefined) return checkMirror(raw, McpHeader.HeaderName.name, name)
  return typeof name === "string" ? mismatch(`${McpHeader.HeaderName.name} is missing`) : undefined
}

const checkParams = (
  headers: Headers,
  mirrored: ReadonlyArray<McpHeader.ParamHeader>,
  params: Schema.JsonObject
): WireError.WireError | undefined => {
  for (const param of mirrored) {
    const name = McpHeader.paramHeaderName(param)
    const raw = headerOf(headers, name.toLowerCase())
    const value = McpHeader.valueAt(params.arguments, param.path)
    const absent = value === undefined || value === null
    if (raw === undefined) {
      if (!absent) return mismatch(`${name} is missing`)
    } else if (absent) {
      return mismatch(`${name} is present but the body has no value`)
    } else {
      const error = checkMirror(raw, name, value)
      if (error !== undefined) return error
    }
  }
  return undefined
}

const toolsCall = "tools/call"

const checkHeaders = (
  headers: Headers,
  method: string,
  params: Schema.JsonObject,
  server: Server
): WireError.WireError | undefined => {
  const wrongMethod = checkPlain(headerOf(headers, methodKey), McpHeader.HeaderName.method, method)
  if (wrongMethod !== undefined) return wrongMethod
  // An unknown method asks for no name, so that it is answered as unknown.
  const nameParam = server.methods.get(method)?.nameParam
  if (nameParam === undefined) return undefined
  const wrongName = checkName(headers, nameParam, params)
  if (wrongName !== undefined || method !== toolsCall || server.paramHeaders === undefined) return wrongName
  return typeof params.name === "string"
    ? checkParams(headers, server.paramHeaders(params.name), params)
    : undefined
}

/** Long enough for every method there is, short enough not to send a hostile one back. */
const longestEcho = 64

const methodNotFound = (method: string): WireError.WireError =>
  WireError.methodNotFound(method.length <= longestEcho ? `Method not found: ${method}` : "Method not found")

const noParams: Schema.JsonObject = {}

const admitRequest = (
  request: JsonRpc.JsonRpcRequest,
  headers: Headers | undefined,
  server: Server
): Result.Result<AdmittedRequest, WireError.Refusal> => {
  const { id, method, params = noParams } = request
  const refuse = (error: WireError.WireError) => Result.fail(WireError.refusal(id, error))
  const meta = readMeta(params)
  if (Result.isFailure(meta)) {
    return Result.fail(WireError.refusal(id, WireError.invalidParams(`Invalid params: ${meta.failure}`), 400))
  }
  const { clientCapabilities, protocolVersion } = meta.success
  if (headers !== undefined) {
    const name = McpHeader.HeaderName.protocolVersion
    const wrongVersion = checkPlain(headerOf(headers, versionKey), name, protocolVersion)
    if (wrongVersion !== undefined) return refuse(wrongVersion)
  }
  if (!server.supportedVersions.includes(protocolVersion)) {
    return refuse(WireError.unsupportedProtocolVersion(server.supportedVersions, protocolVersion))
  }
  if (headers !== undefined) {
    const wrongHeader = checkHeaders(headers, method, params, server)
    if (wrongHeader !== undefined) return refuse(wrongHeader)
  }
  const known = server.methods.get(method)
  if (known === undefined) return refuse(methodNotFound(method))
  const declaresTasks = declaresExtension(clientCapabilities, TasksExtension)
  if (known.requiresTasks && !declaresTasks) return refuse(WireError.tasksRequired)
  return Result.succeed({ _tag: "Request", id, method, params, meta: meta.success, declaresTasks })
}

/**
 * Names the supported versions in a refused `initialize`: clients of earlier revisions cannot move forward by
 * themselves, and this message may be all they show (basic/versioning, Backward Compatibility).
 */
const namingVersions = (refused: WireError.Refusal, supported: ReadonlyArray<string>): WireError.Refusal => {
  const { code, data, message } = refused.error
  return {
    ...refused,
    error: {
      code,
      message: `${message} (supported protocol versions: ${supported.join(", ")})`,
      data: JsonRpc.isJsonObject(data) ? { ...data, supported } : { supported }
    }
  }
}

/**
 * Admits one message, or refuses it with the error, the id and the HTTP status to answer.
 *
 * **Details**
 *
 * - A notification needs a good envelope and nothing else: no `_meta`, no headers (this revision defines none for it).
 *   Nor are headers that it brings compared: none is acted on where there are headers, so one that says something else
 *   than the body gains nothing.
 * - A missing or malformed `_meta` field is -32602 with HTTP 400 and wins over every header rule.
 * - `Mcp-Name` is asked for only where the method has a `nameParam` and the body a string there.
 * - A refusal of `initialize` names the supported versions in its message and in `data.supported`.
 *
 * **Gotchas**
 *
 * What depends on the method's own params is not checked here, for example `taskIds` of `subscriptions/listen`; use
 * `declaresTasks` there.
 *
 * @since 0.1.0
 */
export const admit = (input: Input, server: Server): Result.Result<Admitted, WireError.Refusal> => {
  const message = JsonRpc.parse(input.body, server.limits)
  if (Result.isFailure(message)) return Result.fail(message.failure)
  if (message.success._tag === "Notification") return Result.succeed(message.success)
  const admitted = admitRequest(message.success, input.headers, server)
  return Result.isFailure(admitted) && message.success.method === "initialize"
    ? Result.fail(namingVersions(admitted.failure, server.supportedVersions))
    : admitted
}
