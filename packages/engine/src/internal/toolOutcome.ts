/**
 * From the way a handler ended to what its caller is told: a `CallToolResult` or a JSON-RPC error.
 *
 * What the tool declared is told as it is. Everything else is told in one short sentence, and logged with its cause:
 * stack traces, paths and messages of unexpected errors stay with the server.
 *
 * @since 0.1.0
 */
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Tool from "effect/ai/Tool"
import { InputUnavailable } from "../CurrentTask.ts"
import type { ToolOutcome } from "../TaskTools.ts"
import { ProtocolError, ToolResult } from "../TaskTool.ts"
import * as brief from "./brief.ts"
import * as bulk from "./bulk.ts"
import * as completeResult from "./completeResult.ts"
import type * as jsonSchema from "./jsonSchema.ts"
import * as jsonText from "./jsonText.ts"

/**
 * The outcome of a call that broke in a way that its tool did not declare.
 *
 * @since 0.1.0
 */
export const broken = (message: string): ToolOutcome => ({ _tag: "Error", error: { code: -32603, message } })

type Encode = (value: unknown) => Effect.Effect<unknown, Schema.SchemaError>

/**
 * What a tool's results are held to.
 *
 * @since 0.1.0
 */
export interface Promised {
  readonly bounds: jsonText.Bounds
  /** Whether an `outputSchema` is shown, so that every good result has `structuredContent`. */
  readonly isStructured: boolean
  /** What `structuredContent` is held against, where encoding it by its schema does not say as much. */
  readonly isOutput: Option.Option<jsonSchema.Check>
}

/**
 * From the ends of a tool's handler, and of what it asks first, to outcomes. Interruption is not an outcome.
 *
 * @since 0.1.0
 */
export const forTool = (tool: Tool.Any, promised: Promised) => {
  const { bounds } = promised
  const isDeclared = Schema.is(tool.failureSchema)
  const encodeFailure = encoder(tool.failureSchema)
  const isComplete = tool.successSchema === (ToolResult as Schema.Constraint)
  const encodeSuccess = isComplete ? completeResult.encode : encoder(tool.successSchema)

  const refused = refusing(tool.name)
  const successExcess = isComplete
    ? (value: unknown) => completeResult.excess(value, bounds)
    : excess(tool.successSchema, bounds)
  const failureExcess = excess(tool.failureSchema, bounds)

  const success = (value: unknown): Effect.Effect<ToolOutcome, Schema.SchemaError> => {
    // Before anything looks at all of it.
    const excess = successExcess(value)
    if (excess !== undefined) return refused(excess)
    if (tool.failureMode === "return" && !Schema.is(tool.successSchema)(value)) {
      const failureIs = failureExcess(value)
      if (failureIs !== undefined) return refused(failureIs)
      if (isDeclared(value)) return failure(value)
    }
    return Effect.matchEffect(encodeSuccess(value), {
      onSuccess: (encoded) => {
        const built = isComplete ? bounded(encoded, promised) : plain(encoded, promised)
        return finish(Result.flatMap(built, (result) => held(result, promised)), bounds, refused)
      },
      onFailure: (error) => undeclared(tool.name, error)
    })
  }

  const failure = (error: unknown) =>
    error instanceof Error && error.message !== ""
      ? finish(failed(error.message, bounds), bounds, refused)
      : Effect.flatMap(encodeFailure(error), (encoded) => finish(failed(encoded, bounds), bounds, refused))

  const ended = (cause: Cause.Cause<unknown>): Effect.Effect<ToolOutcome, Schema.SchemaError> => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const thrown = protocolError(cause)
    if (Option.isSome(thrown)) return raised(tool.name, thrown.value, bounds)
    const error = Cause.findError(cause)
    const excess = Result.isSuccess(error) ? failureExcess(error.success) : undefined
    if (excess !== undefined) return refused(excess)
    if (Result.isSuccess(error) && !Cause.hasDies(cause) && isDeclared(error.success)) return failure(error.success)
    return unexpected(tool.name, cause)
  }

  const outcome = <A, B>(
    effect: Effect.Effect<A, unknown>,
    onSuccess: (value: A) => Effect.Effect<B, Schema.SchemaError>,
    onOutcome: (outcome: ToolOutcome) => B
  ): Effect.Effect<B> =>
    // Once the handler has ended, its end counts: an interruption that comes later is too late.
    Effect.uninterruptibleMask((restore) =>
      restore(effect).pipe(
        Effect.matchCauseEffect({ onSuccess, onFailure: (cause) => Effect.map(ended(cause), onOutcome) }),
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.map(unexpected(tool.name, cause), onOutcome))
      )
    )

  return {
    /** The outcome of the handler. */
    ofHandler: (handler: Effect.Effect<unknown, unknown>) => outcome(handler, success, (ended) => ended),
    /** The outcome that ends the call already; none where what was to be asked has been answered. */
    ofAsking: (ask: Effect.Effect<unknown, unknown>) =>
      outcome(ask, () => Effect.succeed(Option.none<ToolOutcome>()), Option.some)
  }
}

/** A complete result. What is held against a schema is bounded first. */
const bounded = (encoded: unknown, { bounds, isOutput }: Promised): Result.Result<ToolResult, jsonText.Refusal> => {
  const complete = encoded as ToolResult
  return Option.isNone(isOutput)
    ? Result.succeed(complete)
    : Result.map(jsonText.encode(encoded, bounds), () => complete)
}

/** A schema that allows anything says nothing of JSON: there, `JSON.stringify` decides. */
const isAnything = ({ ast }: Schema.Constraint): boolean => ast._tag === "Unknown" || ast._tag === "Any"

const excess = (schema: Schema.Constraint, bounds: jsonText.Bounds) => (value: unknown): jsonText.Refusal | undefined =>
  isAnything(schema) ? undefined : bulk.refusal(schema.ast, value, bounds)

const encoder = (schema: Schema.Constraint): Encode =>
  isAnything(schema)
    ? Effect.succeed
    : Schema.encodeUnknownEffect(Schema.toCodecJson(schema)) as Encode

const undeclared = (tool: string, error: unknown): Effect.Effect<ToolOutcome> =>
  Effect.as(
    Effect.annotateLogs(Effect.logError("A tool's result does not fit its schema", brief.value(error)), { tool }),
    broken("The tool's result is not what the tool declares")
  )

const unexpected = (tool: string, cause: Cause.Cause<unknown>): Effect.Effect<ToolOutcome> =>
  Effect.as(
    Effect.annotateLogs(Effect.logError("A tool ended in a way that it did not declare", brief.cause(cause)), { tool }),
    broken("The tool failed unexpectedly")
  )

/** A protocol error counts wherever it was raised, declared or thrown; so does that a client cannot be asked. */
const protocolError = (cause: Cause.Cause<unknown>): Option.Option<Raised> => {
  for (const reason of cause.reasons) {
    const raised = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (raised instanceof ProtocolError) {
      const { code, data, message } = raised
      return Option.some({ code, data, message })
    }
    if (raised instanceof InputUnavailable && raised.reason !== "NotATask") return Option.some(missing(raised))
  }
  return Option.none()
}

interface Raised extends Pick<ProtocolError, "code" | "message"> {
  readonly data?: unknown
}

/** What a request needs and its client did not declare (basic/index, "Per-request protocol fields"). */
const missing = ({ message, requiredCapabilities }: InputUnavailable): Raised =>
  WireError.missingRequiredClientCapability(requiredCapabilities, message)

/**
 * The error as it is, but under a code that is an integer and that the protocol does not keep for itself (basic/index,
 * "Error Codes"), and without data that cannot be sent: the rest of what the tool says is still worth it.
 */
const raised = Effect.fnUntraced(function*(tool: string, error: Raised, bounds: jsonText.Bounds) {
  const { data, ...bare } = error
  const whole = jsonText.encode({ code: 0, message: bare.message, ...(data === undefined ? {} : { data }) }, bounds)
  const text = Result.isFailure(whole) ? jsonText.encode({ code: 0, message: bare.message }, bounds) : whole
  if (Result.isFailure(text)) return yield* refusing(tool, "error")(text.failure)
  if (Result.isFailure(whole)) yield* Effect.annotateLogs(dataless(whole.failure), { tool })
  // As it was encoded, since what has been encoded once may throw the next time.
  const told: WireError.WireError = { ...JSON.parse(text.success), code: bare.code }
  if (Number.isSafeInteger(told.code) && WireError.mayBeOfATool(told)) return { _tag: "Error" as const, error: told }
  const why = Number.isSafeInteger(told.code) ? "which is the protocol's own" : "which is no integer within ±(2^53 - 1)"
  const log = Effect.logError(`A tool's error has code ${told.code}, ${why}: it is told as -32603`)
  yield* Effect.annotateLogs(log, { tool })
  return { _tag: "Error" as const, error: { ...told, code: -32603 } }
})

/** In words that name a length or a depth, or say that JSON has nothing for it; then with what was thrown. */
const dataless = ({ cause, reason }: jsonText.Refusal): Effect.Effect<void> => {
  const message = `The data of a ProtocolError is left out: ${reason}`
  return cause === undefined ? Effect.logError(message) : Effect.logError(message, brief.value(cause))
}

type Refuse = (refusal: jsonText.Refusal) => Effect.Effect<ToolOutcome>

/** The client learns why, and so does the log: there, with what the value has thrown. */
const refusing = (tool: string, what = "result"): Refuse => ({ cause, reason }) => {
  const message = `The tool's ${what} was refused: ${reason}`
  const log = cause === undefined ? Effect.logError(message) : Effect.logError(message, brief.value(cause))
  return Effect.as(Effect.annotateLogs(log, { tool }), broken(message))
}

const block = (text: string) => [{ type: "text", text }]

/**
 * Anything is `structuredContent`, with its JSON as text for older readers. A string is its own text, and nothing is
 * nothing, unless an `outputSchema` promises structure.
 */
const plain = (encoded: unknown, { bounds, isStructured }: Promised): Result.Result<ToolResult, jsonText.Refusal> => {
  if (!isStructured) {
    if (encoded === undefined || encoded === null) return Result.succeed({ content: [] })
    if (typeof encoded === "string") return Result.succeed({ content: block(encoded) })
  }
  return Result.map(jsonText.encode(encoded, bounds), (text) => ({
    content: block(text),
    structuredContent: (encoded ?? null) as Schema.Json
  }))
}

/** A result that does what its `outputSchema` promises (MCP, "Output Schema"); an error promises nothing. */
const held = (result: ToolResult, { isOutput }: Promised): Result.Result<ToolResult, jsonText.Refusal> => {
  if (Option.isNone(isOutput) || result.isError === true) return Result.succeed(result)
  if (result.structuredContent === undefined) {
    return Result.fail({ reason: "it has no structuredContent for the outputSchema" })
  }
  return Result.mapBoth(isOutput.value(result.structuredContent), {
    onFailure: (reason): jsonText.Refusal => ({
      reason: `its structuredContent does not satisfy the outputSchema: ${reason}`
    }),
    onSuccess: () => result
  })
}

const failed = (encoded: unknown, bounds: jsonText.Bounds): Result.Result<ToolResult, jsonText.Refusal> =>
  Result.map(
    typeof encoded === "string" ? Result.succeed(encoded) : jsonText.encode(encoded, bounds),
    (text) => ({ content: block(text), isError: true })
  )

/** What the tool says of the result stands first, where it is found without reading the rest. */
const complete = ({ _meta, ...result }: ToolResult): object =>
  _meta === undefined ? { resultType: "complete", ...result } : { _meta, resultType: "complete", ...result }

const finish = (
  built: Result.Result<ToolResult, jsonText.Refusal>,
  bounds: jsonText.Bounds,
  refused: Refuse
): Effect.Effect<ToolOutcome> =>
  Result.match(
    Result.flatMap(built, (result) =>
      Result.map(jsonText.encode(complete(result), bounds), (text) => ({ result, text }))),
    {
      onFailure: refused,
      onSuccess: ({ result, text }) =>
        Effect.succeed<ToolOutcome>({ _tag: "Result", result: text, isError: result.isError === true })
    }
  )
