/** A server that cannot start says why in one line, and a program of it ends with exit code 1. */
import { Storage } from "@effect-mcp-tasks/engine"
import { HttpStartup, StdioTransport } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Runtime } from "effect"
import { Redis } from "effect/persistence"
import { createServer } from "node:http"
import { type AddressInfo, createServer as createNetServer } from "node:net"
import { tmpdir } from "node:os"

const taken = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createNetServer().listen(0, "127.0.0.1", () =>
      resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close: () => server.close() })))
  }),
  ({ close }) => Effect.sync(close)
)

const heard = Effect.fnUntraced(function*<A, E>(start: Effect.Effect<A, E>) {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
  const exit = yield* Effect.exit(Effect.provide(start, Logger.layer([logger])))
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return { lines, error, code: Runtime.getErrorExitCode(error), isReported: Runtime.getErrorReported(error) }
})

const at = (port: number) => HttpStartup.layer(NodeHttpServer.layer, createServer, { host: "127.0.0.1", port })

describe("HttpStartup.launch", () => {
  it.live("names a port that is in use, and what to do", () =>
    Effect.gen(function*() {
      const { port } = yield* taken
      const { code, error, isReported, lines } = yield* heard(HttpStartup.launch(at(port)))
      assert.instanceOf(error, HttpStartup.CannotStart)
      assert.deepStrictEqual([code, isReported, lines.length], [1, false, 1])
      assert.include(lines[0], `127.0.0.1:${port} is already in use. Stop what uses it, or choose another port`)
      assert.notInclude(lines[0], "    at ")
    }))

  it.live("names a port that is none, an address of nobody here, and a directory as a file", () =>
    Effect.gen(function*() {
      const starts: ReadonlyArray<readonly [Effect.Effect<unknown, unknown>, string]> = [
        [HttpStartup.launch(at(70_000)), "The port is none"],
        [
          HttpStartup.launch(NodeHttpServer.layer(createServer, { host: "192.0.2.1", port: 0 })),
          "is no address of this machine"
        ],
        [HttpStartup.launch(SqliteClient.layer({ filename: tmpdir() })), `${tmpdir()} is a directory`]
      ]
      for (const [start, sentence] of starts) {
        const { error, lines } = yield* heard(start)
        assert.instanceOf(error, HttpStartup.CannotStart)
        assert.strictEqual(lines.length, 1)
        assert.include(lines[0], sentence)
      }
    }))

  it.effect("names a prefix of keys that is none", () =>
    Effect.gen(function*() {
      const redis = Layer.effect(Redis.Redis, Redis.make({
        send: () => Effect.never,
        subscribe: () => Effect.never,
        connect: Effect.never
      }))
      const storage = Layer.provide(Storage.layerRedisWith({ prefix: "a{b}" }), redis)
      const { code, error, lines } = yield* heard(HttpStartup.launch(storage))
      assert.instanceOf(error, HttpStartup.CannotStart)
      assert.deepStrictEqual([code, lines.length], [1, 1])
      assert.include(lines[0], "The server cannot start: a prefix of keys is not empty and has no braces; this is")
      assert.notInclude(lines[0], "    at ")
    }))

  it.effect("leaves everything else as it is", () =>
    Effect.gen(function*() {
      const fault = new Error("The tool x has no handler")
      for (const layer of [Layer.effectDiscard(Effect.die(fault)), Layer.effectDiscard(Effect.fail(fault))]) {
        const { error, isReported, lines } = yield* heard(HttpStartup.launch(layer))
        assert.deepStrictEqual([error, isReported, lines.length], [fault, true, 0])
      }
    }))
})

describe("StdioTransport.launch", () => {
  it.effect("says it too, and not on the standard output", () =>
    Effect.gen(function*() {
      const { error, lines } = yield* heard(StdioTransport.launch(SqliteClient.layer({ filename: tmpdir() })))
      assert.instanceOf(error, HttpStartup.CannotStart)
      // It has a logger of its own, on the standard error.
      assert.deepStrictEqual(lines, [])
    }))
})
