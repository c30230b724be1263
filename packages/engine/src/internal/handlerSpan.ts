/**
 * The span of a handler: a child of the caller's, on whichever machine the handler runs.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Option from "effect/Option"

/**
 * Runs a handler in a span of its own, which joins the trace that the caller named (`_meta.traceparent`, W3C Trace
 * Context). It begins a new trace where the caller named none, or nothing that is a trace.
 *
 * @since 0.2.0
 */
export const within = <A, E, R>(
  { attempt, taskId, tool, traceparent }: Task.Task,
  handler: Effect.Effect<A, E, R>
) => {
  const caller = traceparent === undefined
    ? Option.none()
    : HttpTraceContext.w3c(Headers.fromInput({ traceparent }))
  return Effect.withSpan(handler, `tools/call ${tool}`, {
    ...(Option.isSome(caller) ? { parent: caller.value } : { root: true }),
    kind: "consumer",
    // A stack trace would show this file, and costs more than the span.
    captureStackTrace: false,
    attributes: { "mcp.tool.name": tool, "mcp.task.id": taskId, "mcp.task.attempt": attempt }
  })
}
