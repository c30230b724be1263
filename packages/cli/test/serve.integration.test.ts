/** `serve` where it cannot, and where others do. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import * as OwnServer from "../../engine/test/OwnServer.ts"
import * as services from "../../engine/test/services.ts"
import * as Cli from "./Cli.ts"

const taken = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () =>
      resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close: () => server.close() })))
  }),
  ({ close }) => Effect.sync(close)
)

describe("mcp-tasks serve", () => {
  it.live("says in a sentence why it cannot", () =>
    Effect.gen(function*() {
      const { port } = yield* taken
      const directory = yield* Cli.directory
      const text = join(directory, "text.sqlite")
      writeFileSync(text, "This is no database, though it is long enough to be one. ".repeat(100))
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["--store", "memory", "--port", `${port}`], new RegExp(`127\\.0\\.0\\.1:${port} is already in use`)],
        [["--file", directory], /is a directory/],
        [["--file", text], /text\.sqlite: the file is not a SQLite database|not a SQLite database: .*text\.sqlite/],
        [["--store", "redis", "--redis-url", "redis://127.0.0.1:9"], /Redis cannot be used: .*ECONNREFUSED/]
      ]
      for (const [given, sentence] of cases) {
        const ended = yield* Cli.run(["serve", ...(given.includes("--port") ? [] : ["--port", "0"]), ...given])
        assert.deepStrictEqual([ended.code, ended.stdout], [1, ""], given.join(" "))
        assert.match(ended.stderr, sentence)
        assert.notInclude(ended.stderr, "    at ")
      }
    }))
})

services.withService(services.redisBinary, () => {
  describe("mcp-tasks serve on one Redis", () => {
    it.live("is one of several: a second one leaves the tasks of the first alone", () =>
      Effect.gen(function*() {
        const redis = yield* OwnServer.redis()
        const store = ["--store", "redis", "--redis-url", redis.url]
        const first = yield* Cli.serveOn(...store)
        const called = yield* Cli.run(["call", first, "export_report", JSON.stringify({ rows: 42 }), "--detach"])
        const task = called.stdout.trim()
        const attempt = Effect.map(
          Cli.run(["tasks", "show", task, ...store, "--json"]),
          ({ stdout }) => (JSON.parse(stdout) as { readonly attempt: number }).attempt
        )
        assert.strictEqual(yield* attempt, 1)
        const second = yield* Cli.serveOn(...store)
        assert.strictEqual((yield* Cli.run(["get", second, task])).code, 0)
        assert.strictEqual(yield* attempt, 1)
        assert.strictEqual((yield* Cli.run(["answer", second, task, "overwrite=true"])).code, 0)
        assert.strictEqual((yield* Cli.run(["watch", first, task])).code, 0)
        assert.strictEqual(yield* attempt, 1)
      }))
  })
})
