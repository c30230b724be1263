/**
 * The server that is fuzzed, as a child process: over HTTP on a free port, or over the standard streams.
 *
 * Started with an IPC channel: says there that it is up, and answers each message with how it is.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as ServerMetrics from "@effect-mcp-tasks/server/ServerMetrics"
import * as StdioTransport from "@effect-mcp-tasks/server/StdioTransport"
import * as TaskServer from "@effect-mcp-tasks/server/TaskServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { maxBodyBytes } from "./HttpGrammar.ts"

const Echo = Tool.make("echo", { parameters: Schema.Struct({ text: Schema.String }), success: Schema.String })

const Fail = Tool.make("fail", { success: Schema.String, failure: TaskTool.ProtocolError })

const Job = Tool.make("job", {
  parameters: Schema.Struct({ ask: Schema.optionalKey(Schema.Boolean) }),
  success: Schema.String
}).annotate(TaskTool.Policy, { ttl: "1 second", resultTtl: "500 millis" })

const toolkit = Toolkit.make(Echo, Fail, Job)

const handlers = toolkit.toLayer({
  echo: Effect.fnUntraced(function*({ text }) {
    const { report } = yield* CurrentTask.CurrentTask
    if (text === "reports") yield* Effect.andThen(report("one"), report("two"))
    return text
  }),
  fail: () => Effect.fail(new TaskTool.ProtocolError({ code: 4050, message: "Failed" })),
  job: Effect.fnUntraced(function*({ ask }) {
    const task = yield* CurrentTask.CurrentTask
    if (ask === true && Option.isSome(task.taskId)) {
      yield* Effect.ignore(task.elicit("name", { message: "?", schema: Schema.Struct({ name: Schema.String }) }))
    }
    return "no taskId"
  })
})

const info = { name: "fuzz-target", version: "0", toolkit }
const kept = Layer.mergeAll(handlers, TaskStore.layerMemory, TaskOwner.layerAnonymous)

const server = createServer()

/** How this process is, after garbage has been collected. */
const state = Effect.gen(function*() {
  const { value: listeners } = yield* Metric.value(ServerMetrics.listeners)
  const connections = yield* Effect.callback<number>((resume) =>
    void server.getConnections((_, count) => resume(Effect.succeed(count))))
  yield* Effect.sync(() => globalThis.gc?.())
  return { listeners, connections, heap: process.memoryUsage().heapUsed }
})

const tell = (message: object) => Effect.sync(() => process.send?.(message))

/** Answers each message of the parent with how this process is. */
const inspectable = Effect.gen(function*() {
  const services = yield* Effect.context()
  process.on("message", () => Effect.runForkWith(services)(Effect.flatMap(state, tell)))
  process.channel?.unref()
})

const announce = HttpServer.addressFormattedWith((address) => tell({ port: Number(new URL(address).port) }))

const http = TaskServer.layerHttp({ ...info, maxBodyBytes, bodyTimeout: "15 seconds" }).pipe(
  Layer.provide(kept),
  Layer.merge(Layer.effectDiscard(announce)),
  Layer.provide(NodeHttpServer.layer(() => server, { host: "127.0.0.1", port: 0 })),
  Layer.launch
)

const stdio = TaskServer.layerStdio({ ...info, maxLineBytes: maxBodyBytes }).pipe(
  Layer.provide(kept),
  Layer.tap(() => tell({ port: 0 })),
  StdioTransport.launch,
  Effect.provide(NodeStdio.layer)
)

const [, , transport] = process.argv

Effect.gen(function*() {
  yield* inspectable
  return transport === "stdio" ? yield* stdio : yield* http
}).pipe(
  Effect.provide(Layer.merge(StdioTransport.layerLogger, Layer.succeed(References.MinimumLogLevel, "Error"))),
  NodeRuntime.runMain
)
