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
import * as Tool from "effect/ai/Tool"
import type { Limits } from "../TaskLimits.ts"
import { asksFirst, OutputSchema, Policy, type TaskPolicy, ToolResult } from "../TaskTool.ts"
import type { RegisteredTool, TaskSettings, ToolCall } from "../TaskTools.ts"
import * as jsonSchema from "./jsonSchema.ts"
import * as schemaText from "./schemaText.ts"
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
  const checks = Result.flatMap(faultOf(tool.name, definition), () => checksOf(tool))
  if (Result.isFailure(checks)) {
    return yield* Effect.die(`The tool ${tool.name} cannot be offered over MCP: ${checks.failure}`)
  }
  const settings = settingsOf(tool, limits)
  const provided = Context.merge(services, handler.context)
  const decide = Context.get(tool.annotations, Policy)?.decide as TaskPolicy<unknown>["decide"]
  const outcome = toolOutcome.forTool(tool, {
    bounds: { maxLength: limits.maxResultLength, maxDepth: limits.maxJsonDepth },
    isStructured: definition["outputSchema"] !== undefined,
    isOutput: checks.success.isOutput
  })
  const decode = decoder(tool, checks.success.isInput)
  const asks = Option.fromUndefinedOr(asksFirst(handler.handler))
  const within = <A, E>(effect: () => Effect.Effect<A, E>) =>
    Effect.updateContext(
      Effect.suspend(effect),
      (request: Context.Context<never>) => Context.merge(provided, request)
    )
  const called = (parameters: unknown): ToolCall => ({
    mode: Option.isNone(settings) ? "direct" : decide?.(parameters) ?? "task",
    ask: Option.map(asks, (ask) => outcome.ofAsking(within(() => ask(parameters)))),
    run: outcome.ofHandler(within(() => handler.handler(parameters, unattended)))
  })
  return {
    name: tool.name,
    definition,
    settings,
    isRepeatable: Option.isNone(settings) || settings.value.policy.recovery === "resume",
    call: (args) =>
      // Most schemas need no services: then the arguments have been decoded already, and none are provided.
      Effect.provideContext(decode(args), services).pipe(
        Effect.matchEager({
          onFailure: (reason) => Result.fail(`Invalid arguments for tool ${tool.name}: ${reason}`),
          onSuccess: (parameters) => Result.succeed(called(parameters))
        })
      )
  }
})

interface Checks {
  /** For parameters that are JSON Schema, which no Effect schema decodes. */
  readonly isInput: Option.Option<jsonSchema.Check>
  readonly isOutput: Option.Option<jsonSchema.Check>
}

const checksOf = (tool: Tool.Any): Result.Result<Checks, string> => {
  const compiled = (name: string, schema: JsonSchema.JsonSchema | undefined) =>
    schema === undefined
      ? Result.succeed(Option.none())
      : Result.mapBoth(jsonSchema.compile(schemaText.json(schema)), {
        onFailure: (reason) => `its ${name}: ${reason}`,
        onSuccess: Option.some
      })
  return Result.all({
    isInput: compiled("inputSchema", Tool.isDynamic(tool) ? tool.jsonSchema : undefined),
    isOutput: compiled("outputSchema", Context.get(tool.annotations, OutputSchema))
  })
}

type Decode = (args: Schema.JsonObject) => Effect.Effect<unknown, string>

const decoder = (tool: Tool.Any, isInput: Checks["isInput"]): Decode => {
  if (Option.isSome(isInput)) return (args) => Effect.fromResult(Result.map(isInput.value(args), () => args))
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(tool.parametersSchema as Schema.Constraint), {
    errors: "all",
    onExcessProperty: Tool.getStrictMode(tool) === true ? "error" : "ignore"
  }) as (args: unknown) => Effect.Effect<unknown, Schema.SchemaError>
  return (args) => Effect.mapErrorEager(decode(args), ({ message }) => message)
}

/** Nobody listens for preliminary results over MCP: progress is reported. */
const unattended = { toolCallId: undefined, preliminary: () => Effect.void }

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/

const faultOf = (name: string, definition: Schema.JsonObject): Result.Result<unknown, string> => {
  if (!namePattern.test(name)) return Result.fail("its name must be 1 to 128 of the characters A-Z a-z 0-9 _ . -")
  const input = definition["inputSchema"] as Schema.JsonObject
  if (input["type"] !== "object") return Result.fail("its parameters must be an object, such as a Schema.Struct")
  return McpHeader.paramHeaders(input)
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
    ...(Option.isSome(meta) ? { _meta: schemaText.json(meta.value) } : {})
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
const inputSchema = (tool: Tool.Any): Schema.JsonObject =>
  schemaText.isEmptyStruct(tool.parametersSchema as Schema.Constraint)
    ? { type: "object", properties: {} }
    : schemaText.json(Tool.getJsonSchema(tool, { transformer: schemaText.keepExtensions }))

/** Text, nothing, anything, or a complete result promise no structured content. */
const outputSchema = (tool: Tool.Any): Schema.JsonObject | undefined => {
  const promised = Context.get(tool.annotations, OutputSchema)
  if (promised !== undefined) return schemaText.json(promised)
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
      return schemaText.json(Tool.getJsonSchemaFromSchema(schema))
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
