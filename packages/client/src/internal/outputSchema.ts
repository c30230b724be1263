/**
 * Checking a tool's structured result against the output schema that the server gave for it.
 *
 * The schema comes from a stranger: nothing of it is fetched, and its regular expressions are not run, since one of
 * them could take for ever.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"

/**
 * Says what is wrong with a structured result, or `undefined` where nothing is.
 *
 * @since 0.1.0
 */
export type Check = (structured: Schema.Json | undefined) => string | undefined

const draft2020 = "https://json-schema.org/draft/2020-12/schema"
const draft7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/

const documentOf = (schema: Schema.JsonObject): JsonSchema.Document<"draft-2020-12"> | undefined => {
  const { $schema: dialect } = schema
  if (dialect === undefined || (typeof dialect === "string" && dialect.replace(/#$/, "") === draft2020)) {
    return JsonSchema.fromSchemaDraft2020_12(schema)
  }
  return typeof dialect === "string" && draft7.test(dialect) ? JsonSchema.fromSchemaDraft07(schema) : undefined
}

type Decodable = Schema.ConstraintDecoder<unknown, never>

/** An imported schema asks for no services, which its type does not say. */
const isDecodable = (_: Schema.Constraint): _ is Schema.Constraint & Decodable => true

const compiled = (schema: Schema.JsonObject): Result.Result<Decodable, string> => {
  const imported = Result.try({
    try: () => {
      const document = documentOf(schema)
      return document && SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore" })
    },
    catch: (cause) => cause instanceof Error ? cause.message : String(cause)
  })
  if (Result.isFailure(imported)) return Result.fail(imported.failure)
  return imported.success !== undefined && isDecodable(imported.success)
    ? Result.succeed(imported.success)
    : Result.fail(`JSON Schema dialect ${JSON.stringify(schema["$schema"])} is not known here`)
}

/**
 * Compiles an output schema, or says why it cannot be checked here.
 *
 * **Details**
 *
 * JSON Schema 2020-12 (the default) and draft 7, as far as Effect imports them: `if`, `not`, `contains`, references
 * beyond `#/$defs/` and the like cannot be checked.
 *
 * @since 0.1.0
 */
export const compile = (schema: Schema.Json): Result.Result<Check, string> => {
  if (!JsonRpc.isJsonObject(schema)) return Result.fail("it is not an object")
  return Result.map(compiled(schema), (codec): Check => {
    const decode = Schema.decodeUnknownResult(codec, { onExcessProperty: "error" })
    return (structured) => {
      if (structured === undefined) return "there is no structuredContent"
      const decoded = decode(structured)
      return Result.isFailure(decoded) ? decoded.failure.message : undefined
    }
  })
}
