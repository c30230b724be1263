/**
 * The conformance fixture as a child process, for tests that drive it from outside.
 *
 * The program must take `--port 0`, print one JSON line `{"url": "http://127.0.0.1:PORT/mcp"}` on stdout once it
 * accepts requests, and end on SIGTERM. The child lives as long as the layer.
 *
 * @since 0.1.0
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Announcement = Schema.fromJsonString(Schema.Struct({ url: Schema.String }))

/** Is the running fixture server. */
export class FixtureServer extends Context.Service<FixtureServer, {
  /** Is the MCP endpoint. */
  readonly url: string
}>()("@effect-mcp-tasks/conformance/official/FixtureServer") {}

/** Starts `program`, an absolute path, and provides its endpoint once it has announced it. */
export const layer = (
  program: string
): Layer.Layer<FixtureServer, PlatformError.PlatformError | Schema.SchemaError> =>
  Layer.effect(
    FixtureServer,
    Effect.gen(function*() {
      const child = yield* ChildProcess.make(process.execPath, [...process.execArgv, program, "--port", "0"], {
        stderr: "inherit"
      })
      const line = yield* child.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
      return yield* Schema.decodeUnknownEffect(Announcement)(line._tag === "Some" ? line.value : "")
    })
  ).pipe(Layer.provide(NodeServices.layer))
