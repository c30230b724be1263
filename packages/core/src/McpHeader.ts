/**
 * The HTTP headers that mirror the body of a request: their value encoding, and the annotations that ask for them.
 *
 * Guarantee: `decode(encode(value))` is `value` for every well-formed string, an encoded value is always a legal HTTP
 * field value, and what is not a legal field value or not strictly valid base64 and UTF-8 is never decoded.
 *
 * Source: basic/transports/streamable-http, Request Metadata.
 *
 * @since 0.1.0
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { isJsonObject } from "./JsonRpc.ts"

/**
 * The standard headers of a request, spelled as the specification does; names are compared without regard to case.
 *
 * @since 0.1.0
 */
export const HeaderName = {
  protocolVersion: "MCP-Protocol-Version",
  method: "Mcp-Method",
  name: "Mcp-Name"
} as const

/**
 * A tool parameter that is mirrored into a header.
 *
 * **Details**
 *
 * `header` is the annotation's value, so the header is `Mcp-Param-{header}`; `path` leads from the call's `arguments`
 * to the value.
 *
 * @since 0.1.0
 */
export interface ParamHeader {
  readonly header: string
  readonly path: ReadonlyArray<string>
  readonly type: "string" | "integer" | "boolean"
}

/**
 * Returns the name of the header that mirrors a parameter.
 *
 * @since 0.1.0
 */
export const paramHeaderName = (param: ParamHeader): string => `Mcp-Param-${param.header}`

const sentinelStart = "=?base64?"
const sentinelEnd = "?="

const isSentinel = (value: string): boolean =>
  value.length >= sentinelStart.length + sentinelEnd.length &&
  value.startsWith(sentinelStart) && value.endsWith(sentinelEnd)

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

const isVisible = (code: number): boolean => code > 0x20 && code < 0x7f

/** Removes the blanks that are no part of a field value (RFC 9110, section 5.5), and no other white space. */
const trimBlanks = (value: string): string => {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return start === 0 && end === value.length ? value : value.slice(start, end)
}

/** Tabs are legal inside a field value but some recipients turn them into spaces, so they count as unsafe. */
const isSafe = (value: string): boolean => {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (!isVisible(code) && code !== 0x20) return false
  }
  return value.charCodeAt(0) !== 0x20 && value.charCodeAt(value.length - 1) !== 0x20 &&
    !(value.startsWith(sentinelStart) && value.endsWith(sentinelEnd))
}

/**
 * Encodes a value for `Mcp-Name` or `Mcp-Param-{name}`: as it is when a header can carry it, else in the base64
 * sentinel form.
 *
 * **Gotchas**
 *
 * UTF-8 cannot carry a lone surrogate, so it becomes U+FFFD and the server will refuse the request as a mismatch.
 *
 * @since 0.1.0
 */
export const encodeHeaderValue = (value: string | number | boolean): string => {
  const text = String(value)
  return isSafe(text) ? text : `${sentinelStart}${Base64.encode(text)}${sentinelEnd}`
}

/**
 * Returns a field value without surrounding blanks, or a failure with the reason when it has a character that a field
 * value may not have.
 *
 * @since 0.1.0
 */
export const readHeaderValue = (value: string): Result.Result<string, string> => {
  const trimmed = trimBlanks(value)
  for (let index = 0; index < trimmed.length; index++) {
    const code = trimmed.charCodeAt(index)
    if (!isVisible(code) && !isBlank(code)) return Result.fail("contains invalid characters")
  }
  return Result.succeed(trimmed)
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeSentinel = (encoded: string): Result.Result<string, string> => {
  const bytes = Base64.decode(encoded)
  // Encoding again refuses the other spellings of the same bytes that a decoder lets through.
  if (Result.isFailure(bytes) || Base64.encode(bytes.success) !== encoded) {
    return Result.fail("contains invalid base64")
  }
  return Result.try({ try: () => utf8.decode(bytes.success), catch: () => "contains invalid UTF-8" })
}

/**
 * Reads the value of `Mcp-Name` or `Mcp-Param-{name}`: without surrounding blanks, and decoded when it has the base64
 * sentinel form; a failure carries the reason.
 *
 * **Details**
 *
 * The sentinel is case-sensitive; half a sentinel is a literal value.
 *
 * @since 0.1.0
 */
export const decodeHeaderValue = (value: string): Result.Result<string, string> => {
  const text = readHeaderValue(value)
  return Result.isSuccess(text) && isSentinel(text.success)
    ? decodeSentinel(text.success.slice(sentinelStart.length, -sentinelEnd.length))
    : text
}

/** A number as JSON writes it (RFC 8259, section 6), as it is in the body: no plus, no leading zeros. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Tells whether a decoded header value states the same value as the body does.
 *
 * **Details**
 *
 * Strings are compared exactly, booleans with `true` and `false`, integers as numbers in the syntax of JSON (`42.0` is
 * 42; `+42` and `042` are none). No header states `null`, an object, an array, a fraction or an integer beyond
 * ±(2^53 - 1).
 *
 * @since 0.1.0
 */
export const matches = (header: string, body: Schema.Json | undefined): boolean => {
  switch (typeof body) {
    case "string":
      return header === body
    case "boolean":
      return header === String(body)
    case "number":
      return Number.isSafeInteger(body) && jsonNumber.test(header) && Number(header) === body
    default:
      return false
  }
}

/**
 * Returns the value at a path of own keys, or `undefined` where there is none.
 *
 * @since 0.1.0
 */
export const valueAt = (
  root: Schema.Json | undefined,
  path: ReadonlyArray<string>
): Schema.Json | undefined => {
  let value = root
  for (const key of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

const annotation = "x-mcp-header"
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Keywords whose value is data, not a schema: an annotation cannot stand in there. */
const dataKeywords: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"])
/** Keywords whose value is a map from free names to schemas: its own keys are not keywords. */
const schemaMaps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies"
])

/** The chain of property names that leads to a place, last name first; the root has none. */
interface Chain {
  readonly name: string
  readonly parent: Chain | undefined
}

/** A place in a schema; `reachable` tells that `properties` alone leads to it. */
interface Place {
  readonly schema: Schema.Json
  readonly chain: Chain | undefined
  readonly reachable: boolean
}

const pathOf = (chain: Chain): ReadonlyArray<string> => {
  const path: Array<string> = []
  for (let link: Chain | undefined = chain; link !== undefined; link = link.parent) path.push(link.name)
  return path.toReversed()
}

const children = (schema: Schema.JsonObject, place: Place): ReadonlyArray<Place> => {
  const places: Array<Place> = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === annotation || dataKeywords.has(keyword)) continue
    if (schemaMaps.has(keyword) && isJsonObject(value)) {
      const reachable = place.reachable && keyword === "properties"
      for (const [name, property] of Object.entries(value)) {
        places.push({ schema: property, chain: { name, parent: place.chain }, reachable })
      }
    } else {
      places.push({ schema: value, chain: undefined, reachable: false })
    }
  }
  return places
}

const readAnnotation = (place: Place, schema: Schema.JsonObject): Result.Result<ParamHeader, string> => {
  const header = schema[annotation]
  if (!place.reachable || place.chain === undefined) {
    return Result.fail(`${annotation} may stand only on a property reachable by properties alone`)
  }
  const path = pathOf(place.chain)
  const at = path.join(".")
  if (typeof header !== "string" || !token.test(header)) {
    return Result.fail(`${annotation} of ${at} must be a header name token`)
  }
  const { type } = schema
  if (type !== "string" && type !== "integer" && type !== "boolean") {
    return Result.fail(`${annotation} of ${at} needs type string, integer or boolean`)
  }
  return Result.succeed({ header, path, type })
}

/**
 * Reads the `x-mcp-header` annotations of a tool's input schema, or says why they make the tool invalid.
 *
 * **Details**
 *
 * An annotation must be a header name token, unique without regard to case, on a property of type `string`, `integer`
 * or `boolean` (that one word: no list of types) that a chain of `properties` leads to. One anywhere else makes the
 * whole tool invalid, and a client must leave such a tool out.
 *
 * @since 0.1.0
 */
export const paramHeaders = (inputSchema: Schema.Json): Result.Result<ReadonlyArray<ParamHeader>, string> => {
  const found: Array<ParamHeader> = []
  const taken = new Set<string>()
  const places: Array<Place> = [{ schema: inputSchema, chain: undefined, reachable: true }]
  // A growing list instead of recursion: the schema may come from a peer, as deep as it likes.
  for (const place of places) {
    const { schema } = place
    if (Array.isArray(schema)) {
      for (const item of schema) places.push({ schema: item, chain: undefined, reachable: false })
    } else if (isJsonObject(schema)) {
      if (Object.hasOwn(schema, annotation)) {
        const param = readAnnotation(place, schema)
        if (Result.isFailure(param)) return Result.fail(param.failure)
        const name = param.success.header.toLowerCase()
        if (taken.has(name)) return Result.fail(`${annotation} ${param.success.header} is used twice`)
        taken.add(name)
        found.push(param.success)
      }
      for (const child of children(schema, place)) places.push(child)
    }
  }
  return Result.succeed(found)
}
