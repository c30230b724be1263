/**
 * JSON Schema 2020-12: compiled once, with every fault of the schema found then, and applied to values that come from
 * outside (basic/index, "JSON Schema Usage").
 *
 * What is compiled can be applied: no reference leads outside of the schema, and nothing is ever fetched. What is not
 * supported, `$dynamicRef` and other dialects, is refused by name rather than passed over.
 *
 * @since 0.1.0
 */
import { dereference, type OutputUnit, type Schema as Document, validate } from "@cfworker/json-schema"
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/**
 * Tells, in words for whoever sent the value, the first thing that is wrong with it.
 *
 * @since 0.1.0
 */
export type Check = (value: Schema.Json) => Result.Result<void, string>

/** Enough for every schema that people write, and few enough to be walked at once. */
const limits = { maxDepth: 64, maxSubschemas: 10_000 }

const dialect = "https://json-schema.org/draft/2020-12/schema"

const typeNames: ReadonlySet<unknown> = new Set([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string"
])

/**
 * Compiles a schema, or says why it cannot be applied.
 *
 * **Details**
 *
 * `format` is asserted, for the formats that the specification of JSON Schema defines.
 *
 * @since 0.1.0
 */
export const compile = (schema: Schema.JsonObject): Result.Result<Check, string> => {
  const text = JSON.stringify(schema)
  if (JsonRpc.isDeeperThan(text, limits.maxDepth)) {
    return Result.fail(`the schema is nested deeper than ${limits.maxDepth} levels`)
  }
  // A copy, since the library leaves marks on what it is given.
  const document: Document = JSON.parse(text)
  const lookup = Result.try({ try: () => dereference(document), catch: messageOf })
  if (Result.isFailure(lookup)) return Result.fail(lookup.failure)
  const fault = faultOf(lookup.success)
  if (fault !== undefined) return Result.fail(fault)
  return Result.succeed((value) =>
    Result.flatMap(
      Result.try({
        try: () => validate(value, document, "2020-12", lookup.success, true),
        // A schema that leads to itself without an end.
        catch: () => "the schema cannot be applied to this value"
      }),
      ({ errors, valid }) => valid ? Result.void : Result.fail(describe(errors))
    )
  )
}

type Lookup = ReturnType<typeof dereference>

const faultOf = (lookup: Lookup): string | undefined => {
  const subschemas = new Set(Object.values(lookup))
  if (subschemas.size > limits.maxSubschemas) return `the schema has more than ${limits.maxSubschemas} parts`
  for (const subschema of subschemas) {
    const fault = typeof subschema === "boolean" ? undefined : faultOfPart(subschema, lookup)
    if (fault !== undefined) return fault
  }
  return undefined
}

const faultOfPart = (part: Document, lookup: Lookup): string | undefined => {
  if (part.$schema !== undefined && part.$schema.replace(/#$/, "") !== dialect) {
    return `the dialect ${part.$schema} is not supported, only ${dialect}`
  }
  for (const keyword of ["$dynamicRef", "$recursiveRef"]) {
    if (Object.hasOwn(part, keyword)) return `${keyword} is not supported`
  }
  if (part.__absolute_ref__ !== undefined && !Object.hasOwn(lookup, part.__absolute_ref__)) {
    return `the reference ${part.$ref} leads to nothing in the schema, and references are never fetched`
  }
  const types = part.type === undefined ? [] : [part.type].flat()
  for (const type of types) if (!typeNames.has(type)) return `${JSON.stringify(type)} is not a type`
  const patterns = [part.pattern ?? "", ...Object.keys(part.patternProperties ?? {})]
  for (const pattern of patterns) {
    const compiled = Result.try(() => new RegExp(pattern, "u"))
    if (Result.isFailure(compiled)) return `${JSON.stringify(pattern)} is not a regular expression`
  }
  return undefined
}

/** The innermost errors: those around them say only that something within is wrong. */
const describe = (errors: ReadonlyArray<OutputUnit>): string =>
  errors
    .filter(({ keyword }) => keyword !== "false")
    .filter(({ keywordLocation }, index, all) =>
      !all.slice(index + 1).some((later) => later.keywordLocation.startsWith(`${keywordLocation}/`)))
    .slice(0, 3)
    .map(({ error, instanceLocation }) =>
      instanceLocation === "#" ? error : `${decodeURIComponent(instanceLocation.slice(1))}: ${error}`)
    .join(" ")

const messageOf = (cause: unknown): string => cause instanceof Error ? cause.message : "the schema cannot be read"
