/**
 * What makes an ordinary `effect/ai` tool one that runs as a task: an annotation, and two values it may end with.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import * as Schema from "effect/Schema"
import * as contentBlock from "./internal/contentBlock.ts"

/**
 * How a tool runs as a task. Every field has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskPolicy<in Parameters = never> {
  /** How long a call may live before it fails, from its creation; 1 hour. `TaskLimits.maxTtl` caps it. */
  readonly ttl?: Duration.Input | undefined
  /** How long an outcome stays readable at the least; 1 hour. */
  readonly resultTtl?: Duration.Input | undefined
  /** How often clients are asked to poll; 1 second. */
  readonly pollInterval?: Duration.Input | undefined
  /**
   * What a caller gets that did not declare the tasks extension: the tool run within the call (`inline`, the
   * default), or the error -32021 (`reject`).
   */
  readonly undeclared?: "inline" | "reject" | undefined
  /**
   * What happens to a call whose process died: run it again over its journal (`resume`), or fail it (`fail`). The
   * default follows the tool's annotations: read-only and idempotent tools resume, others fail.
   */
  readonly recovery?: "resume" | "fail" | undefined
  /**
   * How many attempts may die with their process, one after another, before a resumable call fails with the next; 5. A
   * call that gets on, or waits for its client again, has all of them again.
   */
  readonly maxLostAttempts?: number | undefined
  /** Whether this call becomes a task or is answered directly; always a task unless given. */
  readonly decide?: ((parameters: Parameters) => "task" | "direct") | undefined
  /**
   * A task that ends within this time is answered as a plain result and forgotten. Off unless given. A caller that goes
   * away meanwhile has its task cancelled, since it could never learn of it.
   */
  readonly inlineWithin?: Duration.Input | undefined
}

/**
 * Marks a tool as one that runs as a task, and says how. A tool without it is always answered directly.
 *
 * **Example** (A tool that runs for minutes)
 *
 * ```ts
 * const Export = Tool.make("export_report", { parameters: Schema.Struct({ rows: Schema.Int }) })
 *   .annotate(TaskTool.Policy, { ttl: "30 minutes", undeclared: "reject" })
 * ```
 *
 * @category annotations
 * @since 0.1.0
 */
export const Policy: Context.Reference<TaskPolicy | undefined> = Context.Reference<TaskPolicy | undefined>(
  "@effect-mcp-tasks/engine/TaskTool/Policy",
  { defaultValue: () => undefined }
)

/** Where a handler that asks first keeps what it asks; a symbol, so that nobody else's property is taken for it. */
const asks: unique symbol = Symbol.for("@effect-mcp-tasks/engine/TaskTool/askFirst")

/**
 * Makes a handler that asks before it does anything: before the task exists, or before a plain call does its work.
 *
 * **When to use**
 *
 * When a call is not worth a task until its user has said something, and for tools that must not be run twice: what
 * is asked here is asked in the call itself (MCP, "Multi Round-Trip Requests"), whatever the tool's `recovery`.
 *
 * **Details**
 *
 * `ask` is written like any handler, with `CurrentTask`. While an answer is missing, the call answers
 * `input_required`, and the client calls again with the answers; no task exists. Once `ask` succeeds, `handle` gets its
 * value, as a task or within the call. What `ask` fails with is the answer to the call, as it is for `handle`.
 *
 * **Gotchas**
 *
 * `ask` runs again in every round, and once more where the task runs, over the answers and steps it has: put what a
 * question depends on (a price, a list from a database) into a `step`, or it may be another question the next time.
 *
 * **Example** (A tool that has itself confirmed)
 *
 * ```ts
 * const handler = TaskTool.askFirst(
 *   ({ file }: { readonly file: string }) =>
 *     Effect.flatMap(CurrentTask, (task) => task.elicit("confirm", { message: `Delete ${file}?`, schema: Confirm })),
 *   ({ file }, answer) => answer.action === "accept" ? remove(file) : Effect.succeed("Nothing was deleted")
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const askFirst = <Parameters, Answer, E1, R1, A, E2, R2>(
  ask: (parameters: Parameters) => Effect.Effect<Answer, E1, R1>,
  handle: (parameters: Parameters, answer: Answer) => Effect.Effect<A, E2, R2>
): (parameters: Parameters) => Effect.Effect<A, E1 | E2, R1 | R2> =>
  Object.assign(
    (parameters: Parameters) => Effect.flatMap(ask(parameters), (answer) => handle(parameters, answer)),
    { [asks]: ask }
  )

/**
 * What a handler asks before it does anything; nothing unless it was made by `askFirst`.
 *
 * @category accessors
 * @since 0.1.0
 */
export const asksFirst = (
  handler: object & { readonly [asks]?: (parameters: unknown) => Effect.Effect<unknown, unknown> }
): ((parameters: unknown) => Effect.Effect<unknown, unknown>) | undefined => handler[asks]

/**
 * The schema, as JSON Schema 2020-12, that the `structuredContent` of a tool's results is promised to satisfy.
 *
 * **When to use**
 *
 * For a tool whose `success` is `ToolResult`. Others have the schema of their `success`, and need none.
 *
 * **Details**
 *
 * It is shown as `outputSchema`, and every result that is no error is held against it (MCP, "Output Schema"): one that
 * does not satisfy it is not sent, and its call ends with -32603.
 *
 * @category annotations
 * @since 0.1.0
 */
export const OutputSchema: Context.Reference<JsonSchema.JsonSchema | undefined> = Context.Reference<
  JsonSchema.JsonSchema | undefined
>("@effect-mcp-tasks/engine/TaskTool/OutputSchema", { defaultValue: () => undefined })

/**
 * A complete MCP tool result, for tools that say themselves what their content is.
 *
 * **When to use**
 *
 * As the `success` schema of a tool that returns images, several blocks, or an error that is a result (`isError`).
 * Any other success schema is answered as `structuredContent` with its JSON as text, and a string as text alone.
 *
 * **Details**
 *
 * A block of content is one of the five kinds of MCP (`ContentBlock`) with the members of its kind, and may have more.
 * `_meta`, and members that MCP does not know, are sent as they are. `resultType` may be `complete` or left out.
 *
 * **Gotchas**
 *
 * What `_meta` says under `io.modelcontextprotocol/serverInfo` is replaced where the result is the answer to the call:
 * there it is this server that answers.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResult = Schema.StructWithRest(
  Schema.Struct({
    content: Schema.Array(Schema.JsonObject.check(Schema.makeFilter(contentBlock.fault))),
    structuredContent: Schema.optionalKey(Schema.Json),
    isError: Schema.optionalKey(Schema.Boolean),
    _meta: Schema.optionalKey(Schema.JsonObject)
  }),
  [Schema.JsonObject]
)

/**
 * A complete MCP tool result.
 *
 * @category schemas
 * @since 0.1.0
 */
export type ToolResult = typeof ToolResult.Type

/**
 * A result of one block of text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (value: string): ToolResult => ({ content: [{ type: "text", text: value }] })

/**
 * A result that says, to the model, that the tool did not do its work. The task that ends with it is `completed`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const error = (message: string): ToolResult => ({ ...text(message), isError: true })

/** Looked at when the error is told: an error that throws where it is made loses its code and its message with it. */
const Data = Schema.Unknown as unknown as typeof Schema.Json

/**
 * The JSON-RPC error that a call ends with: its task is `failed` (ext-tasks, "Task Execution Errors").
 *
 * **When to use**
 *
 * As (part of) the `failure` schema of a tool whose underlying request can break. For errors that the model should
 * read and act on, fail with another error or return `TaskTool.error`: those complete the task with `isError`.
 *
 * **Gotchas**
 *
 * A code of your own is best outside -32768 to -32000, which JSON-RPC reserves. One that the protocol keeps for itself
 * (-32099 to -32020, -32002) is not sent, nor one that is no integer: the error goes out as -32603, otherwise as it is.
 * Data that JSON cannot carry, or that is too much, is left out. The log says so.
 *
 * @category errors
 * @since 0.1.0
 */
export class ProtocolError extends Schema.TaggedError<ProtocolError>()("ProtocolError", {
  code: Schema.Number,
  message: Schema.String,
  data: Schema.optional(Data)
}) {}
