/**
 * From how a call ended to what its caller asked for.
 *
 * @since 0.1.0
 */
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  InvalidOutput,
  InvalidResponse,
  TaskCancelled,
  TaskFailed,
  ToolError,
  ToolResult
} from "../TaskClientError.ts"
import type { Catalog, KnownTool } from "./catalog.ts"

/**
 * What the caller wants to be given.
 *
 * @since 0.1.0
 */
export interface Wanted<out A> {
  readonly tool: string | undefined
  /** What the server says of the tool, where it can be had. */
  readonly known: Effect.Effect<KnownTool | undefined>
  /** Makes it of a result that is no error. */
  readonly decode: (result: ToolResult) => Effect.Effect<A, string>
}

/**
 * The errors of a call that has ended.
 *
 * @since 0.1.0
 */
export type Unsuccessful = TaskFailed | TaskCancelled | ToolError | InvalidOutput | InvalidResponse

const decodeResult = Schema.decodeUnknownEffect(ToolResult)

/** Absent is allowed where there is nothing to show: some servers leave `content` out. */
const withContent = (result: Schema.JsonObject): Schema.JsonObject =>
  result["content"] === undefined ? { ...result, content: [] } : result

/**
 * Gives the caller a tool's result.
 *
 * @since 0.1.0
 */
export const ofResult = Effect.fnUntraced(function*<A>(
  { decode, known, tool }: Wanted<A>,
  json: Schema.JsonObject,
  taskId: string | undefined
): Effect.fn.Return<A, ToolError | InvalidOutput | InvalidResponse> {
  const named = { ...(tool === undefined ? {} : { tool }), ...(taskId === undefined ? {} : { taskId }) }
  const { resultType = "complete" } = json
  const method = taskId === undefined ? "tools/call" : "tasks/get"
  const result = yield* Effect.mapError(decodeResult(withContent(json)), ({ message }) =>
    new InvalidResponse({ ...named, method, detail: `no tool result: ${message}` }))
  if (resultType !== "complete") {
    return yield* new InvalidResponse({ ...named, method, detail: `a result of type ${JSON.stringify(resultType)}` })
  }
  if (result.isError === true) return yield* new ToolError({ ...named, result })
  const invalid = (detail: string) => new InvalidOutput({ ...named, detail, result: json })
  const misfit = (yield* known)?.check?.(result.structuredContent)
  if (misfit !== undefined) return yield* invalid(misfit)
  return yield* Effect.mapError(decode(result), invalid)
})

/**
 * Gives the caller what a task ended with.
 *
 * @since 0.1.0
 */
export const ofView = <A>(wanted: Wanted<A>, view: TaskView.Terminal): Effect.Effect<A, Unsuccessful> => {
  const { statusMessage, taskId } = view
  const said = statusMessage === undefined ? {} : { statusMessage }
  switch (view.status) {
    case "completed":
      return ofResult(wanted, view.result, taskId)
    case "failed":
      return Effect.fail(new TaskFailed({ taskId, error: view.error, ...said }))
    case "cancelled":
      return Effect.fail(new TaskCancelled({ taskId, ...said }))
  }
}

const textOf = ({ content }: ToolResult): string | undefined => {
  const [only, ...rest] = content
  return rest.length === 0 && only?.["type"] === "text" && typeof only["text"] === "string" ? only["text"] : undefined
}

/** Decodes a result by a schema: its structured content, or where there is none its one text, as it is or as JSON. */
const decoderOf = <A, R>(schema: Schema.ConstraintDecoder<A, R>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))
  return (result: ToolResult): Effect.Effect<A, string, R> => {
    const { structuredContent } = result
    const text = textOf(result)
    const decoded = structuredContent === undefined && text !== undefined
      ? decode(text).pipe(
        Effect.catch((error) => Effect.flatMap(Effect.mapError(decodeJson(text), () => error), decode))
      )
      : decode(structuredContent)
    return Effect.mapError(decoded, ({ message }) => message)
  }
}

/** Without a schema the caller is given the whole result, and that is what its type then says. */
const whole = <A>(result: ToolResult): Effect.Effect<A> => Effect.succeed(result as unknown as A)

/**
 * Says what the caller wants, with the services that decoding it needs.
 *
 * @since 0.1.0
 */
export const wanted = <A, R>(
  tools: Catalog,
  tool: string | undefined,
  success: Schema.ConstraintDecoder<A, R> | undefined
): Effect.Effect<Wanted<A>, never, R> =>
  Effect.map(Effect.context<R>(), (context) => {
    const decode = success === undefined ? undefined : decoderOf(success)
    return {
      tool,
      known: tool === undefined
        ? Effect.undefined
        : tools.find(tool).pipe(Effect.catch((error) =>
          Effect.as(Effect.logWarning(`The result of ${tool} is not checked: ${error.message}`), undefined)
        )),
      decode: (result) => decode === undefined ? whole<A>(result) : Effect.provideContext(decode(result), context)
    }
  })
