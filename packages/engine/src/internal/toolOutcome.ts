/**
 * From the way a handler ended to what its caller is told: a `CallToolResult` or a JSON-RPC error.
 *
 * What the tool declared is told as it is. Everything else is told in one short sentence, and logged with its cause:
 * stack traces, paths and messages of unexpected errors stay with the server.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Tool from "effect/ai/Tool"
import type { ToolOutcome } from "../TaskTools.ts"
import { ProtocolError, ToolResult } from "../TaskTool.ts"
import * as jsonText from "./jsonText.ts"

/**
 * The outcome of a call that broke in a way that its tool did not declare.
 *
 * @since 0.1.0
 */
export const broken = (message: string): ToolOutcome => ({ _tag: "Error", error: { code: -32603, message } })

type Encode = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>

/**
 * Makes the function that turns the end of a tool's handler into an outcome. Interruption is not an outcome.
 *
 * @since 0.1.0
 */
export const forTool = (tool: Tool.Any, bounds: jsonText.Bounds) => {
  const isDeclared = Schema.is(tool.failureSchema)
  const encodeSuccess = encoder(tool.successSchema)
  const encodeFailure = encoder(tool.failureSchema)
  const isComplete = tool.successSchema === (ToolResult as Schema.Constraint)

  const success = (value: unknown) =>
    tool.failureMode === "return" && isDeclared(value) && !Schema.is(tool.successSchema)(value)
      ? failure(value)
      : Effect.map(encodeSuccess(value), (encoded) =>
        finish(isComplete ? Result.succeed(encoded as ToolResult) : plain(encoded, bounds), bounds))

  const failure = (error: unknown) =>
    error instanceof Error && error.message !== ""
      ? Effect.succeed(finish(failed(error.message, bounds), bounds))
      : Effect.map(encodeFailure(error), (encoded) => finish(failed(encoded, bounds), bounds))

  const ended = (cause: Cause.Cause<unknown>): Effect.Effect<ToolOutcome, Schema.SchemaError> => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const thrown = protocolError(cause)
    if (Option.isSome(thrown)) return Effect.succeed(errorOutcome(thrown.value))
    const error = Cause.findError(cause)
    if (Result.isSuccess(error) && !Cause.hasDies(cause) && isDeclared(error.success)) return failure(error.success)
    return unexpected(tool.name, cause)
  }

  return (handler: Effect.Effect<unknown, unknown>): Effect.Effect<ToolOutcome> =>
    // Once the handler has ended, its end counts: an interruption that comes later is too late.
    Effect.uninterruptibleMask((restore) =>
      restore(handler).pipe(
        Effect.matchCauseEffect({ onSuccess: success, onFailure: ended }),
        Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.interrupt : unexpected(tool.name, cause))
      )
    )
}

/** A schema that allows anything says nothing of JSON: there, `JSON.stringify` decides. */
const encoder = (schema: Schema.Constraint): Encode =>
  schema.ast._tag === "Unknown" || schema.ast._tag === "Any"
    ? Effect.succeed
    : Schema.encodeUnknownEffect(Schema.toCodecJson(schema)) as Encode

const unexpected = (tool: string, cause: Cause.Cause<unknown>): Effect.Effect<ToolOutcome> =>
  Effect.as(
    Effect.annotateLogs(Effect.logError("A tool ended in a way that it did not declare", cause), { tool }),
    broken("The tool failed unexpectedly")
  )

/** A protocol error counts wherever it was raised, declared or thrown. */
const protocolError = (cause: Cause.Cause<unknown>): Option.Option<ProtocolError> => {
  for (const reason of cause.reasons) {
    const raised = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (raised instanceof ProtocolError) return Option.some(raised)
  }
  return Option.none()
}

const errorOutcome = (error: ProtocolError): ToolOutcome => ({
  _tag: "Error",
  error: {
    code: error.code,
    message: error.message,
    ...(error.data === undefined ? {} : { data: error.data })
  }
})

const block = (text: string) => [{ type: "text", text }]

/** A string is its own text; anything else is `structuredContent`, with its JSON as text for older readers. */
const plain = (encoded: unknown, bounds: jsonText.Bounds): Result.Result<ToolResult, string> => {
  if (encoded === undefined || encoded === null) return Result.succeed({ content: [] })
  if (typeof encoded === "string") return Result.succeed({ content: block(encoded) })
  return Result.map(jsonText.encode(encoded, bounds), (text) => ({
    content: block(text),
    structuredContent: encoded as Schema.Json
  }))
}

const failed = (encoded: unknown, bounds: jsonText.Bounds): Result.Result<ToolResult, string> =>
  Result.map(
    typeof encoded === "string" ? Result.succeed(encoded) : jsonText.encode(encoded, bounds),
    (text) => ({ content: block(text), isError: true })
  )

const finish = (built: Result.Result<ToolResult, string>, bounds: jsonText.Bounds): ToolOutcome =>
  Result.match(
    Result.flatMap(built, (result) =>
      Result.map(jsonText.encode({ resultType: "complete", ...result }, bounds), (text) => ({ result, text }))),
    {
      onFailure: (reason): ToolOutcome => broken(`The tool's result was refused: ${reason}`),
      onSuccess: ({ result, text }) => ({ _tag: "Result", result: text, isError: result.isError === true })
    }
  )
