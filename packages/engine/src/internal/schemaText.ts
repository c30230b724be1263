/**
 * The JSON Schema of an Effect schema, as MCP shows it to clients.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import type * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import type * as LanguageModel from "effect/ai/LanguageModel"

/**
 * A JSON Schema as plain JSON.
 *
 * @since 0.1.0
 */
export const json = (schema: JsonSchema.JsonSchema): Schema.JsonObject => JSON.parse(JSON.stringify(schema))

/**
 * Tells a struct without fields, which is, to JSON Schema, any value at all.
 *
 * @since 0.1.0
 */
export const isEmptyStruct = ({ ast }: Schema.Constraint): boolean =>
  ast._tag === "Objects" && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0

/**
 * Keeps the annotations that JSON Schema does not know and MCP does, `x-mcp-header` among them: `effect/ai` leaves
 * them out.
 *
 * @since 0.1.0
 */
export const keepExtensions: LanguageModel.CodecTransformer = (codec) => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(codec, {
    includeAnnotationKey: (key) => key.startsWith("x-")
  })
  const document = Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions }
  return { codec, jsonSchema: hoisted(json(document)) as JsonSchema.JsonSchema }
}

/** Keywords that mean the same beside a type as within its `allOf`: how two of them are one. */
const lowest = (a: Schema.Json, b: Schema.Json) => Math.min(Number(a), Number(b))
const highest = (a: Schema.Json, b: Schema.Json) => Math.max(Number(a), Number(b))
const later = (_: Schema.Json, b: Schema.Json) => b
const never = () => undefined

type Combine = (a: Schema.Json, b: Schema.Json) => Schema.Json | undefined

const independent: ReadonlyMap<string, Combine> = new Map<string, Combine>([
  ...["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"].map((it) => [it, highest] as const),
  ...["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"].map((it) => [it, lowest] as const),
  ...["title", "description", "default", "examples"].map((it) => [it, later] as const),
  ...["format", "pattern", "multipleOf", "uniqueItems"].map((it) => [it, never] as const)
])

/**
 * Moves what a check adds to a type up beside the type. An annotation on `Schema.Int` is one on its check, which
 * would put `x-mcp-header` where the specification forbids it, under an `allOf`.
 */
const hoisted = (node: Schema.JsonObject): Schema.JsonObject => {
  const { allOf, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, isData.has(key) ? value : within(value)])
  )
  if (!Array.isArray(allOf)) return allOf === undefined ? rest : { ...rest, allOf }
  let up: Schema.JsonObject = rest
  const left = allOf.filter((part) => {
    const merged = JsonRpc.isJsonObject(part) ? merge(up, part) : undefined
    up = merged ?? up
    return merged === undefined
  })
  return left.length === 0 ? up : { ...up, allOf: left }
}

const merge = (node: Schema.JsonObject, part: Schema.JsonObject): Schema.JsonObject | undefined => {
  const merged: Array<readonly [string, Schema.Json]> = []
  for (const [key, value] of Object.entries(part)) {
    const combine = key.startsWith("x-") ? later : independent.get(key)
    const one = Object.hasOwn(node, key) ? combine?.(node[key] ?? null, value) : combine && value
    if (one === undefined) return undefined
    merged.push([key, one])
  }
  return { ...node, ...Object.fromEntries(merged) }
}

/** Keywords whose value is data and no schema. */
const isData: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"])

const within = (value: Schema.Json): Schema.Json => {
  if (Array.isArray(value)) return value.map(within)
  return JsonRpc.isJsonObject(value) ? hoisted(value) : value
}

/**
 * A part of a schema, with the definition that it refers to in its place.
 *
 * @since 0.1.0
 */
export const resolve = (root: Schema.JsonObject, node: Schema.Json | undefined): Schema.JsonObject => {
  let found = JsonRpc.isJsonObject(node) ? node : {}
  // As many steps as any chain of definitions has that does not lead back to itself.
  for (let step = 0; step < 100 && typeof found["$ref"] === "string"; step++) {
    const { $ref, ...beside } = found
    const name = (String($ref).split("/").at(-1) ?? "").replaceAll("~1", "/").replaceAll("~0", "~")
    const definitions = JsonRpc.isJsonObject(root["$defs"]) ? root["$defs"] : {}
    const target = Object.hasOwn(definitions, name) ? definitions[name] : undefined
    found = { ...(JsonRpc.isJsonObject(target) ? target : {}), ...beside }
  }
  return found
}
