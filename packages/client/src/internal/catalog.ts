/**
 * The server's tools, as far as calling them needs it: which arguments are mirrored into headers, and what a result
 * must be like.
 *
 * Listed when first needed, kept for as long as the server allows, and listed again when a call is refused for its
 * headers. A tool whose annotations are not valid is left out, as the transport demands.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpHeader from "@effect-mcp-tasks/core/McpHeader"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { InvalidResponse, InvalidTool, type RequestError } from "../TaskClientError.ts"
import * as kept from "./kept.ts"
import * as outputSchema from "./outputSchema.ts"
import type { Rpc } from "./rpc.ts"

/**
 * A tool that may be called. `definition` is what the server said.
 *
 * @since 0.1.0
 */
export interface KnownTool {
  readonly name: string
  readonly definition: Schema.JsonObject
  readonly mirrored: ReadonlyArray<McpHeader.ParamHeader>
  /** Says what is wrong with a structured result; none where nothing can be said. */
  readonly check: outputSchema.Check | undefined
}

/**
 * The tools of one server.
 *
 * @since 0.1.0
 */
export interface Catalog {
  readonly tools: Effect.Effect<ReadonlyArray<KnownTool>, RequestError>
  /** One tool; `undefined` for one that the server does not list, which it may serve all the same. */
  readonly find: (name: string) => Effect.Effect<KnownTool | undefined, RequestError | InvalidTool>
  /** Forgets what is known. */
  readonly refresh: Effect.Effect<void>
}

interface Listing {
  readonly tools: ReadonlyMap<string, KnownTool>
  readonly invalid: ReadonlyMap<string, string>
}

const maxPages = 100
const maxTools = 10_000

const method = "tools/list"

/**
 * Makes the catalog.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(rpc: Rpc) {
  const listing = yield* kept.make(list(rpc))
  return {
    tools: Effect.map(listing.get, ({ tools }) => Array.from(tools.values())),
    find: (name) =>
      Effect.flatMap(listing.get, ({ invalid, tools }) => {
        const detail = invalid.get(name)
        return detail === undefined ? Effect.succeed(tools.get(name)) : new InvalidTool({ tool: name, detail })
      }),
    refresh: listing.forget
  } satisfies Catalog as Catalog
})

const list = Effect.fnUntraced(function*(rpc: Rpc) {
  const { definitions, ttlMs } = yield* pages(rpc)
  const tools = new Map<string, KnownTool>()
  const invalid = new Map<string, string>()
  for (const tool of yield* Effect.forEach(definitions, readTool)) {
    if ("detail" in tool) invalid.set(tool.name, tool.detail)
    else tools.set(tool.name, tool)
  }
  const value: Listing = { tools, invalid }
  return { value, ttlMs }
})

/** Every page; a server without tools/list has no tools to tell of. */
const pages = Effect.fnUntraced(function*(rpc: Rpc) {
  const definitions: Array<Schema.JsonObject> = []
  const cursors = new Set<string>()
  let params: Schema.JsonObject = {}
  while (true) {
    const page: Schema.JsonObject = yield* rpc.repeated({ method, params, isPreliminary: true }).pipe(
      Effect.catchIf(
        (error) => error._tag === "ProtocolError" && error.error.code === WireError.Code.MethodNotFound,
        () => Effect.succeed<Schema.JsonObject>({ tools: [] })
      )
    )
    const { nextCursor, tools, ttlMs } = page
    if (!Array.isArray(tools)) return yield* new InvalidResponse({ method, detail: "a result without tools" })
    definitions.push(...tools.filter((tool) => JsonRpc.isJsonObject(tool)))
    if (typeof nextCursor !== "string") return { definitions, ttlMs }
    if (cursors.has(nextCursor) || cursors.size === maxPages || definitions.length > maxTools) {
      return yield* new InvalidResponse({ method, detail: "a listing without end" })
    }
    cursors.add(nextCursor)
    params = { cursor: nextCursor }
  }
})

const readTool = Effect.fnUntraced(function*(definition: Schema.JsonObject) {
  const name = typeof definition["name"] === "string" ? definition["name"] : ""
  const mirrored = McpHeader.paramHeaders(definition["inputSchema"] ?? {})
  if (Result.isFailure(mirrored)) {
    yield* Effect.logWarning(`Tool ${JSON.stringify(name)} is left out: ${mirrored.failure}`)
    return { name, detail: mirrored.failure }
  }
  const { outputSchema: schema } = definition
  const check = schema === undefined ? undefined : outputSchema.compile(schema)
  if (check !== undefined && Result.isFailure(check)) {
    yield* Effect.logWarning(`Results of ${JSON.stringify(name)} are not checked: ${check.failure}`)
  }
  const tool: KnownTool = {
    name,
    definition,
    mirrored: mirrored.success,
    check: check !== undefined && Result.isSuccess(check) ? check.success : undefined
  }
  return tool
})

/**
 * The headers that mirror a call's arguments.
 *
 * **Details**
 *
 * An argument that is absent, `null` or of a type that headers cannot state has none; the server judges the argument.
 *
 * @since 0.1.0
 */
export const headersOf = (tool: KnownTool | undefined, args: Schema.JsonObject): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {}
  for (const param of tool?.mirrored ?? []) {
    const value = McpHeader.valueAt(args, param.path)
    if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") {
      headers[McpHeader.paramHeaderName(param)] = McpHeader.encodeHeaderValue(value)
    }
  }
  return headers
}
