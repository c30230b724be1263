/**
 * The fixture server as a child process: started on a free port, ended or killed at will.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import type { StoreName } from "./FixtureStore.ts"

const Announcement = Schema.fromJsonString(Schema.Struct({ url: Schema.String, store: Schema.String }))

const program = fileURLToPath(new URL("serve.ts", import.meta.url))

/**
 * How to start the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServeOptions {
  readonly store: StoreName
  /** The database of a store that keeps one. */
  readonly file?: string | undefined
}

/**
 * The server, while it runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Server {
  readonly url: string
  /** SIGKILL; ends when the process is gone. */
  readonly kill: Effect.Effect<void, PlatformError.PlatformError>
  /** SIGTERM; gives back the exit code. */
  readonly stop: Effect.Effect<number, PlatformError.PlatformError>
}

/**
 * The process ended, or said something else, before it announced where it listens.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServeFailed extends Schema.TaggedError<ServeFailed>()("ServeFailed", { said: Schema.String }) {
  override get message(): string {
    return `The fixture server did not start: ${this.said}`
  }
}

/**
 * Starts the server and waits until it listens. It is ended with the scope, if it has not been killed before.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start = Effect.fn("ServeProcess.start")(function*(options: ServeOptions) {
  const file = options.file === undefined ? [] : ["--file", options.file]
  const child = yield* ChildProcess.make(
    process.execPath,
    ["--conditions=@effect-mcp-tasks/source", program, "--port", "0", "--store", options.store, ...file],
    { stdin: "ignore", stderr: "inherit", forceKillAfter: "5 seconds" }
  )
  const lines = child.stdout.pipe(Stream.decodeText(), Stream.splitLines)
  const first = yield* Effect.map(Stream.runHead(lines), (line) => line._tag === "Some" ? line.value : "nothing")
  const { url } = yield* Effect.mapError(
    Schema.decodeEffect(Announcement)(first),
    () => new ServeFailed({ said: first })
  )
  const server: Server = {
    url,
    kill: Effect.andThen(child.kill({ killSignal: "SIGKILL" }), Effect.ignore(child.exitCode)),
    stop: Effect.andThen(child.kill({ killSignal: "SIGTERM" }), child.exitCode)
  }
  return server
})
