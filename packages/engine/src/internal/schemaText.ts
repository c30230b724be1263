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

/** Keywords that mean the same beside a type as within its `allOf`, whatever else stands there. */
const independent: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties"
])

const isIndependent = (keyword: string): boolean => independent.has(keyword) || keyword.startsWith("x-")

/**
 * Moves what a check adds to a type up beside the type. An annotation on `Schema.Int` is one on its check, which
 * would put `x-mcp-header` where the specification forbids it, under an `allOf`.
 */
const hoisted = (node: Schema.JsonObject): Schema.JsonObject => {
  const { allOf, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, isData.has(key) ? value : within(value)])
  )
  if (!Array.isArray(allOf)) return allOf === undefined ? rest : { ...rest, allOf }
  const left: Array<Schema.Json> = []
  const up: Record<string, Schema.Json> = { ...rest }
  for (const part of allOf) {
    const fits = JsonRpc.isJsonObject(part) &&
      Object.keys(part).every((key) => isIndependent(key) && !Object.hasOwn(up, key))
    if (fits) Object.assign(up, part)
    else left.push(part)
  }
  return left.length === 0 ? up : { ...up, allOf: left }
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
