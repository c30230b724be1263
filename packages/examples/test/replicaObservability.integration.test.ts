/** What the guide on observing adds to a replica: metrics on a port of their own, and the audit in the log. */
import { Embedded, TaskOwner, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher, HttpStartup, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { HttpClient, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { freePort } from "../../engine/test/OwnServer.ts"
import { DemoClient } from "../src/DemoClient.ts"
import { create, http } from "./TestServer.ts"

const Job = Tool.make("job", { parameters: Schema.Struct({}), success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "10 minutes" })
const Kit = Toolkit.make(Job)

describe("what a replica is observed by", () => {
  it.live("is metrics that its own port does not serve, and what becomes of tasks in the log", () =>
    http(Effect.scoped(Effect.gen(function*() {
      const port = yield* Effect.promise(freePort)
      process.env["METRICS_PORT"] = String(port)
      const { observability } = yield* Effect.promise(() => import("../src/replicaObservability.ts"))
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        lines.push(Array.isArray(message) ? message[0] : message)
      })
      const server = HttpRouter.serve(HttpTransport.layer(), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(Dispatcher.layer({ name: "test", version: "0" })),
        Layer.provide([Embedded.layer, TaskOwner.layerAnonymous]),
        Layer.provide(Layer.provide(TaskTools.layer(Kit), Kit.toLayer({ job: () => Effect.succeed("done") }))),
        Layer.provide(TaskStore.layerMemory),
        Layer.provideMerge(HttpStartup.layer(NodeHttpServer.layer, createServer, { host: "127.0.0.1", port: 0 })),
        Layer.provide(observability),
        Layer.provide(Logger.layer([logger]))
      )
      const context = yield* Layer.build(server)
      const origin = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
      yield* create(new DemoClient(`${origin}/mcp`), "job", {})
      const metrics = yield* HttpClient.get(`http://127.0.0.1:${port}/metrics`)
      assert.strictEqual(metrics.status, 200)
      assert.include(yield* metrics.text, `mcp_tasks_created{tool="job"`)
      assert.strictEqual((yield* HttpClient.get(`${origin}/metrics`)).status, 404)
      assert.strictEqual((yield* HttpClient.get(`http://127.0.0.1:${port}/mcp`)).status, 404)
      assert.include(lines, "Task Created")
    }))))
})
