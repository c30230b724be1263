/**
 * `tools/call`, once: from a tool's name to its result or its task.
 *
 * A call is never sent a second time by itself, since nobody knows whether the first was carried out. Three things
 * are no repetition: a call that was refused for its revision or its headers before anything was done, and the rounds
 * of a server that asks first.
 *
 * @since 0.1.0
 */
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { InputHandler } from "../InputHandler.ts"
import { InvalidResponse, type InvalidTool, type RequestError } from "../TaskClientError.ts"
import * as asking from "./asking.ts"
import * as catalog from "./catalog.ts"
import type { Rpc } from "./rpc.ts"

/**
 * What answers a call: a result, or a task.
 *
 * @since 0.1.0
 */
export type Begun =
  | { readonly _tag: "Result"; readonly result: Schema.JsonObject }
  | { readonly _tag: "Task"; readonly view: TaskView.Working }

/**
 * A call to make.
 *
 * @since 0.1.0
 */
export interface Call<out E, out R> {
  readonly server: string
  readonly tool: string
  readonly args: Schema.JsonObject
  readonly handler: InputHandler<E, R>
  readonly timeout: Duration.Duration
  /** How long an interrupted call may still bring the id of its task. */
  readonly grace: Duration.Duration
  /** What becomes of a task whose id arrives when nobody waits for it any more. */
  readonly onOrphan: (view: TaskView.Working) => Effect.Effect<void>
  /** Lets what waits be interrupted. */
  readonly restore: asking.Restore
}

const method = "tools/call"

const begunOf = (result: Schema.JsonObject): Effect.Effect<Begun, InvalidResponse> => {
  if (result["resultType"] !== "task") return Effect.succeed({ _tag: "Result", result })
  const view = TaskView.readCreated(result)
  return Result.isSuccess(view)
    ? Effect.succeed({ _tag: "Task", view: view.success })
    : Effect.fail(new InvalidResponse({ method, detail: view.failure }))
}

/**
 * Makes the caller of tools. A call that is on its way lives in `scope`, so that an interrupted caller can still wait
 * for the id of a task that is to be cancelled.
 *
 * @since 0.1.0
 */
export const make = (rpc: Rpc, tools: catalog.Catalog, scope: Scope.Scope) => {
  const send = <E, R>(
    { args, handler, timeout, tool }: Call<E, R>,
    known: catalog.KnownTool | undefined,
    added: Schema.JsonObject
  ): Effect.Effect<Schema.JsonObject, RequestError> =>
    rpc.once({
      method,
      params: { name: tool, arguments: args, ...added },
      capabilities: handler.capabilities,
      headers: catalog.headersOf(known, args),
      timeout,
      accepts: ["task", "input_required"]
    })

  /** What its caller may leave before it is sent, and then it is not; later they may too, but no task is lost. */
  const attempt = <E, R>(call: Call<E, R>, added: Schema.JsonObject) =>
    Effect.flatMap(call.restore(tools.find(call.tool)), (known) =>
      Effect.flatMap(
        Effect.forkIn(Effect.interruptible(send(call, known, added)), scope),
        (sent) => Effect.onInterrupt(call.restore(Fiber.join(sent)), () => abandon(sent, call))
      ))

  const round = <E, R>(call: Call<E, R>, added: Schema.JsonObject) =>
    Effect.catchTag(attempt(call, added), "ProtocolError", (error) =>
      error.error.code === WireError.Code.HeaderMismatch
        // The tool's annotations have changed since they were listed. Nothing was done yet.
        ? Effect.andThen(tools.refresh, attempt(call, added))
        : Effect.fail(error))

  /** Runs uninterruptibly, but for what waits, so that a task that has arrived is in good hands. */
  return <E, R>(call: Call<E, R>): Effect.Effect<Begun, RequestError | InvalidTool | E, R> => {
    const { handler, restore, server, tool } = call
    return Effect.uninterruptible(Effect.flatMap(
      asking.converse({ method, server, tool, handler, restore }, (added) => round(call, added)),
      begunOf
    ))
  }
}

const abandon = <E, R>(sent: Fiber.Fiber<Schema.JsonObject, unknown>, { grace, onOrphan }: Call<E, R>) =>
  Effect.gen(function*() {
    const exit = yield* Effect.timeoutOption(Fiber.await(sent), grace)
    if (Option.isNone(exit)) return yield* Fiber.interrupt(sent)
    const begun = yield* Effect.option(Effect.flatMap(exit.value, begunOf))
    if (Option.isSome(begun) && begun.value._tag === "Task") yield* onOrphan(begun.value.view)
  })
