/**
 * Each request as a span and as numbers. Arguments, results, tokens and task ids are in neither.
 *
 * @since 0.2.0
 */
import type * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as HttpTraceContext from "effect/http/HttpTraceContext"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as ServerMetrics from "../ServerMetrics.ts"
import * as listen from "./listen.ts"
import * as methods from "./methods.ts"

/**
 * How a request was answered: with the code of an error, or with none.
 *
 * @since 0.2.0
 */
export interface Answered {
  readonly code: number | undefined
}

const known: ReadonlySet<number> = new Set(Object.values(WireError.Code))

const codeOf = ({ code }: Answered): string => {
  if (code === undefined) return "ok"
  return known.has(code) ? String(code) : "other"
}

/** Metrics with their labels, made once for each pair. */
const counters = new Map<string, typeof ServerMetrics.requests>()

const counter = (method: string, code: string): typeof ServerMetrics.requests => {
  const key = `${method} ${code}`
  const found = counters.get(key) ?? Metric.withAttributes(ServerMetrics.requests, { method, code })
  counters.set(key, found)
  return found
}

const byMethod = new Map(Array.from(methods.table.keys(), (method) => [method, {
  time: Metric.withAttributes(ServerMetrics.requestTime, { method }),
  abandoned: Metric.withAttributes(ServerMetrics.abandoned, { method })
}]))

/**
 * Counts a message that was refused before its method was known.
 *
 * @since 0.2.0
 */
export const refused = (answered: Answered): Effect.Effect<void> =>
  Metric.update(counter("none", codeOf(answered)), 1)

/**
 * Measures a request, and puts it in a span where there is a tracer: `tools/call NAME` or the method alone, within the
 * trace that the request names (`_meta.traceparent`, W3C Trace Context) or else that of the transport.
 *
 * @since 0.2.0
 */
export const request = <A extends Answered>(
  admitted: McpRequest.AdmittedRequest,
  toolName: Option.Option<string>,
  answer: Effect.Effect<A, never, CurrentOwner>
): Effect.Effect<A, never, CurrentOwner> => measured(admitted.method, traced(admitted, toolName, answer))

const measured = <A extends Answered>(
  method: string,
  answer: Effect.Effect<A, never, CurrentOwner>
): Effect.Effect<A, never, CurrentOwner> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const before = clock.monotonicTimeNanosUnsafe()
    return Effect.onExit(answer, (exit) => {
      const { context } = fiber
      const metrics = byMethod.get(method)
      if (Exit.isFailure(exit)) {
        metrics?.abandoned.updateUnsafe(1, context)
        return Effect.void
      }
      counter(method, codeOf(exit.value)).updateUnsafe(1, context)
      if (method !== listen.method) {
        metrics?.time.updateUnsafe(Number(clock.monotonicTimeNanosUnsafe() - before) / 1e6, context)
      }
      return Effect.void
    })
  })

const traced = <A extends Answered>(
  admitted: McpRequest.AdmittedRequest,
  toolName: Option.Option<string>,
  answer: Effect.Effect<A, never, CurrentOwner>
): Effect.Effect<A, never, CurrentOwner> =>
  // Effect's own tracer shows its spans to nobody.
  Effect.withFiber((fiber) =>
    fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer ? answer : within(admitted, toolName, answer))

const within = <A extends Answered>(
  { meta, method }: McpRequest.AdmittedRequest,
  toolName: Option.Option<string>,
  answer: Effect.Effect<A, never, CurrentOwner>
): Effect.Effect<A, never, CurrentOwner> => {
  const { protocolVersion, traceparent } = meta
  const caller = traceparent === undefined
    ? Option.none()
    : HttpTraceContext.w3c(Headers.fromInput({ traceparent }))
  const named = Option.isSome(toolName) ? { "gen_ai.tool.name": toolName.value } : {}
  const told = Effect.tap(answer, ({ code }) =>
    code === undefined
      ? Effect.void
      : Effect.annotateCurrentSpan({ "error.type": String(code), "rpc.response.status_code": String(code) }))
  return Effect.withSpan(told, Option.isSome(toolName) ? `${method} ${toolName.value}` : method, {
    kind: "server",
    captureStackTrace: false,
    ...(Option.isSome(caller) ? { parent: caller.value } : {}),
    attributes: { "mcp.method.name": method, "mcp.protocol.version": protocolVersion, ...named }
  })
}
