import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import * as clients from "../../engine/test/clients.ts"
import * as services from "../../engine/test/services.ts"
import { DemoClient } from "../src/DemoClient.ts"
import * as ReplicaServer from "../src/replicaServer.ts"
import * as Program from "./Program.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"
import { create, http, result } from "./TestServer.ts"

const read = (path: string) => readFileSync(join(Program.root, path), "utf8")

/** The text of a function of the example, from its name to the blank line behind it. */
const functionOf = (source: string, name: string) =>
  source.slice(source.indexOf(`export const ${name} =`)).split("\n\n")[0] ?? ""

const listening = <E>(replica: Layer.Layer<never, E, HttpServer.HttpServer>) =>
  Effect.map(
    Layer.build(
      Layer.provideMerge(replica, NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
    ),
    (context) => new DemoClient(`${HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)}/mcp`)
  )

/** Two replicas: one takes the call and the answer, the other is asked how the task is. */
const share = Effect.fnUntraced(function*<E>(replica: Layer.Layer<never, E, HttpServer.HttpServer>) {
  const taking = yield* listening(Layer.fresh(replica))
  const showing = yield* listening(Layer.fresh(replica))
  const until = Effect.fnUntraced(function*(taskId: string, status: string) {
    while (true) {
      const task = yield* result(showing.getTask(taskId))
      if (task.status === status) return task
      assert.strictEqual(task.status, "working")
      yield* Effect.sleep("100 millis")
    }
  })
  const taskId = yield* create(taking, "export_report", { rows: 3 })
  yield* until(taskId, "input_required")
  const accept = { action: "accept", content: { overwrite: true } }
  yield* result(taking.updateTask(taskId, { "confirm-overwrite": accept }))
  const done = yield* until(taskId, "completed")
  assert.strictEqual(done.result.content[0]?.text, "Wrote 3 rows to report.csv")
})

describe("the replicas of the guide", () => {
  it("differ by their storage, as the guide shows it", () => {
    const source = read("packages/examples/src/replicaServer.ts")
    const [, diff = ""] = /^```diff\n(.*?)^```$/ms.exec(read("docs/guides/running-replicas.md")) ?? []
    const lines = (sign: string) =>
      diff.split("\n").filter((line) => line.startsWith(sign)).map((line) => line.slice(1)).join("\n")
    const body = (name: string) => functionOf(source, name).split("=>\n")[1] ?? ""
    assert.isNotEmpty(lines("-"))
    assert.include(body("layerSqlite"), lines("-"))
    assert.strictEqual(body("layerSqlite").replace(lines("-"), lines("+")), body("layerRedis"))
  })

  it.live("run on SQLite", () =>
    Effect.gen(function*() {
      yield* share(ReplicaServer.layerSqlite(join(yield* temporaryDirectory, "tasks.sqlite")))
    }).pipe(http))

  services.withService(services.redis, (url) => {
    it.live("run on Redis", () =>
      Effect.gen(function*() {
        const prefix = services.uniqueName()
        yield* Layer.build(Layer.provide(services.dropKeysAfter(`{${prefix}}*`), clients.redis(url)))
        yield* share(ReplicaServer.layerRedis(url, prefix))
      }).pipe(http))

    it.live("outlive one that is killed: npm run demo:replicas", () => demo())
  })

  services.withService(services.postgres, () => {
    it.live("outlive one that is killed: npm run demo:replicas -- --postgres", () => demo("--postgres"))
  })
})

const demo = Effect.fnUntraced(function*(...flags: ReadonlyArray<string>) {
  const args = [...Program.fromSource("replicas.ts"), ...flags]
  const { code, stderr, stdout } = yield* Program.run(process.execPath, args)
  assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
  assert.match(stdout, /kill -9 +replica [ABC] is gone/)
  assert.match(stdout, /nothing finished was done again\n$/)
})
