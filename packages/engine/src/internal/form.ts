/**
 * From a schema to the form that a client can put before its user.
 *
 * A form is a flat object of texts, numbers, truth values and choices (client/elicitation, "Requested Schema"). What a
 * schema says beyond that is left out, so a form asks for no less than its schema takes; whether an answer is one is
 * the schema's to say.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as schemaText from "./schemaText.ts"

type Node = Schema.JsonObject

/**
 * Makes the `requestedSchema` of a form, or says which field cannot stand in one.
 *
 * @since 0.1.0
 */
export const requestedSchema = (schema: Schema.Constraint): Result.Result<Node, string> => {
  const root = schemaText.json(Tool.getJsonSchemaFromSchema(schema))
  const resolve = (node: Schema.Json | undefined) => schemaText.resolve(root, node)
  const { properties, required, type } = resolve(root)
  // A struct without fields is, to JSON Schema, anything at all. Here it asks for no more than consent.
  if (type !== "object" && !schemaText.isEmptyStruct(schema)) return Result.fail("it must be a struct")
  const fields: Array<readonly [string, Node]> = []
  for (const [name, property] of Object.entries(JsonRpc.isJsonObject(properties) ? properties : {})) {
    const field = fieldOf(resolve(property))
    if (field === undefined) {
      return Result.fail(`its field ${name} is not a text, a finite number, a truth value or a choice of texts`)
    }
    fields.push([name, field])
  }
  return Result.succeed({
    type: "object",
    properties: Object.fromEntries(fields),
    ...(Array.isArray(required) ? { required } : {})
  })
}

const titles = ["title", "description", "default"]

const keep = (node: Node, ...keywords: ReadonlyArray<string>): Node =>
  Object.fromEntries(
    [...titles, ...keywords].flatMap((keyword) =>
      Object.hasOwn(node, keyword) ? [[keyword, node[keyword] ?? null] as const] : [])
  )

const fieldOf = (node: Node): Node | undefined => {
  switch (node["type"]) {
    case "string":
      return { type: "string", ...keep(node, "minLength", "maxLength", "enum", "oneOf"), ...formatOf(node) }
    case "number":
    case "integer":
      return { type: node["type"], ...keep(node), ...boundsOf(node) }
    case "boolean":
      return { type: "boolean", ...keep(node) }
    case "array": {
      const items = JsonRpc.isJsonObject(node["items"]) ? node["items"] : {}
      const choice = items["type"] === "string" && items["enum"] !== undefined
        ? { type: "string", enum: items["enum"] }
        : choices(items)
      return choice === undefined ? undefined : {
        type: "array",
        items: "oneOf" in choice ? { anyOf: choice["oneOf"] } : choice,
        ...keep(node, "minItems", "maxItems")
      }
    }
    default:
      return oneOf(node)
  }
}

/** The bounds that somebody set, and not those of every safe integer. */
const boundsOf = (node: Node): Node => {
  const { maximum = Infinity, minimum = -Infinity } = node
  return {
    ...(typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER ? { minimum } : {}),
    ...(typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER ? { maximum } : {})
  }
}

const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"])

const formatOf = ({ format }: Node): Node => format !== undefined && formats.has(format) ? { format } : {}

const alternatives = ({ anyOf }: Node): ReadonlyArray<Node> =>
  Array.isArray(anyOf) ? anyOf.filter((node) => JsonRpc.isJsonObject(node)) : []

/** What an optional field adds to its type, and what JSON writes for numbers that are none: no user enters those. */
const isUnasked = (node: Node): boolean =>
  node["type"] === "null" || (Array.isArray(node["enum"]) && node["enum"].includes("NaN"))

const oneOf = (node: Node): Node | undefined => {
  const [only, ...others] = alternatives(node).filter((alternative) => !isUnasked(alternative))
  if (only !== undefined && others.length === 0) return fieldOf({ ...only, ...keep(node) })
  const choice = choices(node)
  return choice === undefined ? undefined : { ...choice, ...keep(node) }
}

/** A choice whose texts have titles of their own. */
const choices = (node: Node): Node | undefined => {
  const options = alternatives(node).filter((alternative) => !isUnasked(alternative)).map((option) => {
    const [text, ...more] = Array.isArray(option["enum"]) ? option["enum"] : []
    return typeof text === "string" && more.length === 0 ? { const: text, title: option["title"] ?? text } : undefined
  })
  return options.length === 0 || options.includes(undefined)
    ? undefined
    : { type: "string", oneOf: options.filter((option) => option !== undefined) }
}
