/**
 * Whether an answer fits the question it was given under: the shape of the reply by its method, and for an accepted
 * form its content against the `requestedSchema`.
 *
 * Declining and cancelling always fit, whatever else the reply carries (MCP, "Elicitation": response actions).
 *
 * @since 0.1.0
 */
import type { InputRequest } from "@effect-mcp-tasks/core/Task"
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"

/**
 * Gives back the reply as it is to be kept, or says in words what is wrong with it.
 *
 * @since 0.1.0
 */
export const check = (request: InputRequest, response: Schema.Json): Result.Result<Schema.Json, string> => {
  if (!JsonRpc.isJsonObject(response)) return Result.fail("the response must be an object")
  switch (request.method) {
    case "elicitation/create":
      return checkElicitation(request, response)
    case "sampling/createMessage":
      return checkWith(SamplingReply, response)
    case "roots/list":
      return checkWith(RootsReply, response)
  }
}

const Block = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Schema.JsonObject])

const SamplingReply = Schema.Struct({
  role: Schema.Literals(["user", "assistant"]),
  content: Schema.Union([Schema.Array(Block), Block]),
  model: Schema.String
})

const RootsReply = Schema.Struct({ roots: Schema.Array(Schema.Struct({ uri: Schema.String })) })

const checkWith = (schema: Schema.Constraint, response: Schema.JsonObject): Result.Result<Schema.Json, string> =>
  Result.mapBoth(Schema.decodeUnknownResult(schema as Schema.Codec<unknown>, { errors: "all" })(response), {
    onFailure: (error) => oneLine(error.message),
    onSuccess: () => response
  })

const checkElicitation = (request: InputRequest, response: Schema.JsonObject): Result.Result<Schema.Json, string> => {
  const action = response["action"]
  if (action === "decline" || action === "cancel") return Result.succeed({ action })
  if (action !== "accept") return Result.fail("action must be accept, decline or cancel")
  if (request.params?.["mode"] === "url") return Result.succeed({ action })
  const content = response["content"]
  if (content === undefined || !JsonRpc.isJsonObject(content)) return Result.fail("content must be an object")
  return Result.mapBoth(
    Result.flatMap(schemaOf(request), (schema) => checkWith(schema, content)),
    { onFailure: (message) => message, onSuccess: () => ({ action, content }) }
  )
}

/**
 * The schema that accepted content of a form must satisfy, or why its JSON Schema cannot be checked.
 *
 * @since 0.1.0
 */
export const schemaOf = (request: InputRequest): Result.Result<Schema.Codec<unknown>, string> =>
  Result.try({
    try: () =>
      Schema.make<Schema.Codec<unknown>>(
        SchemaRepresentation.fromJsonSchemaDocument(
          JsonSchema.fromSchemaDraft2020_12({ ...(request.params?.["requestedSchema"] as JsonSchema.JsonSchema) }),
          { patterns: "apply" }
        ).ast
      ),
    catch: (cause) => cause instanceof Error ? oneLine(cause.message) : "the schema cannot be read"
  })

const oneLine = (message: string): string => message.replaceAll(/\s*\n\s*/g, " ")
