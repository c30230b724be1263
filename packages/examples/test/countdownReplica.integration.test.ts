/** The program of the guide on running replicas: it starts or says why not, and ends in good order and in time. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, type Scope } from "effect"
import { HttpClient } from "effect/http"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as OwnServer from "../../engine/test/OwnServer.ts"
import * as services from "../../engine/test/services.ts"
import * as TcpProxy from "../../engine/test/TcpProxy.ts"
import { DemoClient } from "../src/DemoClient.ts"
import * as Program from "./Program.ts"
import { create, http, result } from "./TestServer.ts"

const name = "countdownReplica.ts"

/** The guide says 24: ten seconds of grace, and fourteen for what does not answer. A busy machine adds to that. */
const longest = "40 seconds"

const launch = Effect.fnUntraced(function*(port: number) {
  const env = { ...process.env, PORT: "0", REDIS_URL: `redis://127.0.0.1:${port}` }
  const isUp = /Listening on "?http:\/\/\S+:\d+/
  const program = yield* Program.launch(process.execPath, Program.fromSource(name), { env, isUp })
  const origin = String(/http:\/\/127\.0\.0\.1:\d+/.exec(program.welcome)?.[0])
  const status = (path: string) => Effect.map(HttpClient.get(origin + path), (response) => response.status)
  return { ...program, client: new DemoClient(`${origin}/mcp`), status }
})

const test = <A, E>(title: string, effect: Effect.Effect<A, E, Scope.Scope | HttpClient.HttpClient>) =>
  it.live(title, () => http(Effect.scoped(effect)))

const isRunning = (client: DemoClient, taskId: string) =>
  Effect.gen(function*() {
    while ((yield* result(client.getTask(taskId))).statusMessage === undefined) yield* Effect.sleep("50 millis")
  })

describe("the program of the guide on replicas", () => {
  it("is what the guide shows", () => {
    const guide = readFileSync(join(Program.root, "docs/guides/running-replicas.md"), "utf8")
    const source = readFileSync(Program.source(name), "utf8")
    assert.include(guide, source.slice(source.indexOf("\nimport ") + 1))
  })

  services.withService(services.redisBinary, () => {
    test("answers until its handlers have ended, and ends with 0", Effect.gen(function*() {
      const { port } = yield* OwnServer.redis()
      const { client, status, terminate } = yield* launch(port)
      assert.deepStrictEqual([yield* status("/health/live"), yield* status("/health/ready")], [200, 200])
      const taskId = yield* create(client, "countdown", { from: 9 })
      yield* isRunning(client, taskId)
      const ending = yield* Effect.forkChild(terminate)
      while ((yield* status("/health/ready")) === 200) yield* Effect.sleep("10 millis")
      // For a second of the nine that its handler takes.
      const asked = yield* Clock.currentTimeMillis
      while ((yield* Clock.currentTimeMillis) < asked + 1_000) {
        assert.deepStrictEqual([yield* status("/health/live"), yield* status("/health/ready")], [200, 503])
        assert.strictEqual(yield* status("/mcp"), 503)
      }
      assert.strictEqual(yield* Fiber.join(ending), 0)
      const next = yield* launch(port)
      assert.strictEqual((yield* result(next.client.getTask(taskId))).status, "completed")
    }))

    test("ends in time though its storage stands still, with a handler and a request under way", Effect.gen(
      function*() {
        const { port } = yield* OwnServer.redis()
        const proxy = yield* TcpProxy.make(port)
        const { client, terminate } = yield* launch(proxy.port)
        yield* isRunning(client, yield* create(client, "countdown", { from: 100 }))
        yield* proxy.loseReplies
        yield* Effect.forkChild(Effect.ignore(create(client, "countdown", { from: 1 })))
        yield* Effect.sleep("1 second")
        assert.strictEqual(yield* Effect.timeout(terminate, longest), 0)
      }
    ))

    test("says on one line that it cannot start where its storage stands still", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      yield* server.pause
      const env = { ...process.env, PORT: "0", REDIS_URL: server.url }
      const running = Program.run(process.execPath, Program.fromSource(name), { env })
      const { code, stdout } = yield* Effect.timeout(running, longest)
      assert.strictEqual(code, 1)
      assert.match(stdout, /^\S+ ERROR \(#\d+\): The server cannot start: a storage .* did not answer within 10s\n$/)
    }))
  })

  test("says on one line that it cannot start, and why", Effect.gen(function*() {
    const env = { ...process.env, PORT: "0", REDIS_URL: "redis://127.0.0.1:1" }
    const { code, stdout } = yield* Program.run(process.execPath, Program.fromSource(name), { env })
    assert.strictEqual(code, 1)
    // The client of Redis warns in words of its own before.
    assert.match(stdout, /\n\S+ ERROR \(#\d+\): The server cannot start: .*ECONNREFUSED 127\.0\.0\.1:1.*\n$/)
  }))
})
