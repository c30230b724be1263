/**
 * The example server as a process of its own, which can be killed.
 *
 * No process outlives the scope it was started in, unless the whole demo is killed the hard way.
 *
 * @since 0.1.0
 */
import { Deferred, Effect, type PlatformError, Ref, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"

const pathOf = (program: string) => fileURLToPath(new URL(program, import.meta.url))

/**
 * The server did not come up.
 *
 * @since 0.1.0
 */
export class ServerNotUp extends Schema.TaggedError<ServerNotUp>()("ServerNotUp", { output: Schema.String }) {
  override get message(): string {
    return `The server did not come up within a minute:\n${this.output}`
  }
}

/**
 * A server that answers.
 *
 * @since 0.1.0
 */
export interface Server {
  /** Where it answers. */
  readonly url: string
  /** What it has printed, its log included. */
  readonly lines: Effect.Effect<ReadonlyArray<string>>
  /** Ends it as a crash does: it can do nothing about it. */
  readonly kill: Effect.Effect<void, PlatformError.PlatformError>
}

/**
 * Starts a program of this package that serves, on a free port, and waits until it says where it is.
 *
 * @since 0.2.0
 */
export const startProgram = Effect.fn("ServerProcess.start")(function*(program: string, args: ReadonlyArray<string>) {
  const child = yield* ChildProcess.make(
    process.execPath,
    [...process.execArgv, pathOf(program), "--port", "0", ...args],
    { stdin: "ignore" }
  )
  const lines = yield* Ref.make<ReadonlyArray<string>>([])
  const url = yield* Deferred.make<string>()
  yield* child.all.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      const found = /^Serving MCP tasks at (\S+),/.exec(line)?.[1]
      return Effect.andThen(
        Ref.update(lines, (earlier) => [...earlier, line]),
        found === undefined ? Effect.void : Deferred.succeed(url, found)
      )
    }),
    Effect.ignore,
    Effect.forkScoped
  )
  return {
    url: yield* Deferred.await(url).pipe(Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.flatMap(Ref.get(lines), (all) => new ServerNotUp({ output: all.join("\n") }))
    })),
    lines: Ref.get(lines),
    kill: child.kill({ killSignal: "SIGKILL" })
  } satisfies Server as Server
})

/**
 * Starts the example server over a SQLite file.
 *
 * @since 0.1.0
 */
export const start = (file: string) => startProgram("main.ts", ["--file", file])
