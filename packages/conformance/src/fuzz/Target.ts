/**
 * The fuzzed server as a child process, and how it is.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/**
 * How the server is: subscriptions, sockets, and the bytes of its heap after a collection.
 *
 * @category models
 * @since 0.2.0
 */
export interface State {
  readonly listeners: number
  readonly connections: number
  readonly heap: number
}

/**
 * The server, while it runs.
 *
 * @category models
 * @since 0.2.0
 */
export interface Target {
  readonly port: number
  readonly child: ChildProcess
  /** Fails when the process does not answer any more. */
  readonly state: Effect.Effect<State, TargetLost>
}

/**
 * The process ended, or does not answer.
 *
 * @category errors
 * @since 0.2.0
 */
export class TargetLost extends Schema.TaggedError<TargetLost>()("TargetLost", { message: Schema.String }) {}

const program = fileURLToPath(new URL("fuzzed.ts", import.meta.url))

const nextMessage = (child: ChildProcess): Effect.Effect<unknown, TargetLost> =>
  Effect.callback<unknown, TargetLost>((resume) => {
    const onMessage = (message: unknown) => resume(Effect.succeed(message))
    const onExit = (code: number | null, signal: string | null) =>
      resume(Effect.fail(new TargetLost({ message: `The server ended: ${code ?? signal}` })))
    child.once("message", onMessage)
    child.once("exit", onExit)
    return Effect.sync(() => {
      child.off("message", onMessage)
      child.off("exit", onExit)
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.fail(new TargetLost({ message: "The server does not answer" }))
    })
  )

/**
 * Starts the server; it is ended with the scope.
 *
 * @category constructors
 * @since 0.2.0
 */
export const start = (transport: "http" | "stdio"): Effect.Effect<Target, TargetLost, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(program, [transport], {
          execArgv: ["--conditions=@effect-mcp-tasks/source", "--expose-gc"],
          stdio: ["pipe", "pipe", "inherit", "ipc"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const up = yield* nextMessage(child)
    return {
      port: Number(Object(up).port),
      child,
      state: Effect.andThen(Effect.sync(() => child.send("state")), Effect.map(nextMessage(child), (it) => it as State))
    }
  })
