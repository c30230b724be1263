/**
 * From an `effect/ai` tool and its handler to a tool that can be listed, checked and run over MCP.
 *
 * The handler is called directly rather than through `Toolkit.handle`, which forks a fiber and a queue for each call
 * and puts all arguments on the current span.
 *
 * @since 0.1.0
 */
import * as McpHeader from "@effect-mcp-tasks/core/McpHeader"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import type { Limits } from "../TaskLimits.ts"
import { Policy, type TaskPolicy, ToolResult } from "../TaskTool.ts"
import type { RegisteredTool, TaskSettings } from "../TaskTools.ts"
import * as toolOutcome from "./toolOutcome.ts"

/**
 * Registers one tool; dies with a clear message when MCP cannot offer it.
 *
 * @since 0.1.0
 */
export const register = Effect.fnUntraced(function*(
  tool: Tool.Any,
  services: Context.Context<never>,
  limits: Limits
): Effect.fn.Return<RegisteredTool> {
  const handler = services.mapUnsafe.get(tool.id) as Tool.Handler<string> | undefined
  if (handler === undefined) return yield* Effect.die(`The tool ${tool.name} has no handler`)
  const definition = define(tool)
  const fault = faultOf(tool.name, definition)
  if (fault !== undefined) return yield* Effect.die(`The tool ${tool.name} cannot be offered over MCP: ${fault}`)
  const settings = settingsOf(tool, limits)
  const provided = Context.merge(services, handler.context)
  const decide = Context.get(tool.annotations, Policy)?.decide as TaskPolicy<unknown>["decide"]
  const toOutcome = toolOutcome.forTool(tool, {
    maxLength: limits.maxResultLength,
    maxDepth: limits.maxJsonDepth
  })
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(tool.parametersSchema as Schema.Constraint), {
    errors: "all",
    onExcessProperty: Tool.getStrictMode(tool) === true ? "error" : "ignore"
  }) as (args: unknown) => Effect.Effect<unknown, Schema.SchemaError>
  return {
    name: tool.name,
    definition,
    settings,
    call: (args) =>
      decode(args).pipe(
        Effect.provideContext(services),
        Effect.map((parameters) => ({
          mode: Option.isNone(settings) ? "direct" as const : decide?.(parameters) ?? "task",
          run: toOutcome(
            Effect.updateContext(
              Effect.suspend(() => handler.handler(parameters, unattended)),
              (request: Context.Context<never>) => Context.merge(provided, request)
            )
          )
        })),
        Effect.mapError((error) => `Invalid arguments for tool ${tool.name}: ${error.message}`),
        Effect.result
      )
  }
})

/** Nobody listens for preliminary results over MCP: progress is reported. */
const unattended = { toolCallId: undefined, preliminary: () => Effect.void }

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/

const faultOf = (name: string, definition: Schema.JsonObject): string | undefined => {
  if (!namePattern.test(name)) return "its name must be 1 to 128 of the characters A-Z a-z 0-9 _ . -"
  const input = definition["inputSchema"] as Schema.JsonObject
  if (input["type"] !== "object") return "its parameters must be an object, such as a Schema.Struct"
  const headers = McpHeader.paramHeaders(input)
  return Result.isFailure(headers) ? headers.failure : undefined
}

const json = (schema: JsonSchema.JsonSchema): Schema.JsonObject => JSON.parse(JSON.stringify(schema))

/** `effect/ai` leaves out every annotation that JSON Schema does not know, `x-mcp-header` among them. */
const keepExtensions: LanguageModel.CodecTransformer = (codec) => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(codec, {
    includeAnnotationKey: (key) => key.startsWith("x-")
  })
  return { codec, jsonSchema: Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions } }
}

const define = (tool: Tool.Any): Schema.JsonObject => {
  const description = Tool.getDescription(tool)
  const title = Context.getOption(tool.annotations, Tool.Title)
  const meta = Context.getOption(tool.annotations, Tool.Meta)
  const output = outputSchema(tool)
  return {
    name: tool.name,
    ...(Option.isSome(title) ? { title: title.value } : {}),
    ...(description === undefined ? {} : { description }),
    inputSchema: inputSchema(tool),
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: hints(tool),
    ...(Option.isSome(meta) ? { _meta: json(meta.value) } : {})
  }
}

/** Whether a tool destroys or repeats anything means something only if it changes anything (MCP, `ToolAnnotations`). */
const hints = ({ annotations }: Tool.Any): Schema.JsonObject => ({
  readOnlyHint: Context.get(annotations, Tool.Readonly),
  ...(Context.get(annotations, Tool.Readonly) ? {} : {
    destructiveHint: Context.get(annotations, Tool.Destructive),
    idempotentHint: Context.get(annotations, Tool.Idempotent)
  }),
  openWorldHint: Context.get(annotations, Tool.OpenWorld)
})

/** `Struct({})` is, to JSON Schema, any value at all; as parameters it means none. */
const inputSchema = (tool: Tool.Any): Schema.JsonObject => {
  const { ast } = tool.parametersSchema as Schema.Constraint
  const isEmpty = ast._tag === "Objects" && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0
  return isEmpty ? { type: "object", properties: {} } : json(Tool.getJsonSchema(tool, { transformer: keepExtensions }))
}

/** Text, nothing, anything, or a complete result promise no structured content. */
const outputSchema = (tool: Tool.Any): Schema.JsonObject | undefined => {
  const schema = tool.successSchema as Schema.Constraint
  if (schema === (ToolResult as Schema.Constraint)) return undefined
  switch (schema.ast._tag) {
    case "String":
    case "Void":
    case "Undefined":
    case "Null":
    case "Unknown":
    case "Any":
    case "Never":
      return undefined
    default:
      return json(Tool.getJsonSchemaFromSchema(schema))
  }
}

const settingsOf = (tool: Tool.Any, limits: Limits): Option.Option<TaskSettings> => {
  const policy = Context.get(tool.annotations, Policy)
  if (policy === undefined) return Option.none()
  const repeatable = Context.get(tool.annotations, Tool.Readonly) || Context.get(tool.annotations, Tool.Idempotent)
  return Option.some({
    policy: {
      recovery: policy.recovery ?? (repeatable ? "resume" : "fail"),
      resultTtlMs: Math.min(millis(policy.resultTtl ?? "1 hour"), Duration.toMillis(limits.maxTtl)),
      maxLostAttempts: policy.maxLostAttempts ?? 5,
      maxQuestions: limits.maxQuestions,
      maxSteps: limits.maxSteps
    },
    ttlMs: Math.min(millis(policy.ttl ?? "1 hour"), Duration.toMillis(limits.maxTtl)),
    pollIntervalMs: millis(policy.pollInterval ?? "1 second"),
    undeclared: policy.undeclared ?? "inline",
    inlineWithin: Option.map(Option.fromUndefinedOr(policy.inlineWithin), Duration.fromInputUnsafe)
  })
}

const millis = (input: Duration.Input): number => Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(input)))
