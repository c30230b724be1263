/** What requests leave behind in spans and metrics, and what they must not. */
import { HttpTransport, ServerMetrics } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Metric, Option, Tracer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { create, start } from "./TestListener.ts"
import { exchange, message, settle } from "./TestServer.ts"

/** Remembers every span. */
const remembering = Effect.sync(() => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const of = (name: string) => spans.filter((span) => span.name === name)
  return { spans, of, within: Effect.provideService(Tracer.Tracer, tracer) }
})

/** Runs a test in which every span is remembered. */
const remembered = <A, E, R>(
  test: (spans: Omit<Effect.Success<typeof remembering>, "within">) => Effect.Effect<A, E, R>
) => Effect.flatMap(remembering, ({ within, ...spans }) => within(test(spans)))

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

describe("spans", () => {
  it.effect("name the method, and the tool if there is such a tool", () =>
    remembered(Effect.fnUntraced(function*({ spans }) {
      const server = yield* start()
      yield* server.ask("tools/call", { name: "plain", arguments: { text: "hello" } })
      yield* server.ask("tools/call", { name: "no such tool", arguments: {} })
      yield* server.ask("server/discover", { name: "plain" })
      yield* server.ask("tasks/get", { taskId: "unknown" })
      const seen = spans.filter(({ kind }) => kind === "server").map(({ attributes, kind, name, status }) => [
        name,
        kind,
        status._tag,
        Object.fromEntries(attributes)
      ])
      const common = (method: string) => ({ "mcp.method.name": method, "mcp.protocol.version": "2026-07-28" })
      const failed = { "error.type": "-32602", "rpc.response.status_code": "-32602" }
      assert.deepStrictEqual(seen, [
        ["tools/call plain", "server", "Ended", { ...common("tools/call"), "gen_ai.tool.name": "plain" }],
        ["tools/call", "server", "Ended", { ...common("tools/call"), ...failed }],
        ["server/discover", "server", "Ended", common("server/discover")],
        ["tasks/get", "server", "Ended", { ...common("tasks/get"), ...failed }]
      ])
    })))

  it.effect("join the trace that the request names, and begin one where it names none", () =>
    remembered(Effect.fnUntraced(function*({ of }) {
      const server = yield* start()
      for (const named of [traceparent, "nonsense", `${traceparent}-more`, "", undefined]) {
        yield* server.ask("tools/list", { _meta: named === undefined ? {} : { traceparent: named } })
      }
      const [joined, ...others] = of("tools/list")
      assert.deepStrictEqual(
        Option.map(joined?.parent ?? Option.none(), ({ spanId, traceId }) => [traceId, spanId]),
        Option.some(["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"])
      )
      assert.strictEqual(joined?.traceId, "0af7651916cd43dd8448eb211c80319c")
      assert.strictEqual(others.length, 4)
      for (const { parent } of others) assert.isTrue(Option.isNone(parent))
    })))

  it.effect("hold neither arguments nor results, answers or ids, whatever happens", () =>
    remembered(Effect.fnUntraced(function*({ spans }) {
      const server = yield* start()
      const secret = "s3cret"
      const taskId = yield* create(server, "ask")
      const taken = { name: { action: "accept", content: { name: secret } } }
      yield* server.ask("tools/call", { name: "plain", arguments: { text: secret } })
      yield* server.ask("tools/call", { name: secret, arguments: { text: secret } })
      yield* server.ask("tools/call", { name: "plain", arguments: { text: 1, [secret]: secret } })
      const reading = yield* server.listen([taskId, secret])
      yield* server.ask("tasks/update", { taskId, inputResponses: taken })
      yield* reading.rest
      yield* server.ask("tasks/get", { taskId })
      assert.isAbove(spans.length, 5)
      const everything = JSON.stringify(
        spans.map(({ attributes, name, status }) => ({
          name,
          attributes: [...attributes].filter(([key]) => key !== "mcp.task.id"),
          exit: status._tag === "Ended" && Exit.isFailure(status.exit) ? String(status.exit.cause) : ""
        })),
        (_, value: unknown) => typeof value === "bigint" ? String(value) : value
      )
      assert.notInclude(everything, secret)
      assert.notInclude(everything, taskId)
    })))

  it.effect("end as interrupted for a client that goes away", () =>
    remembered(Effect.fnUntraced(function*({ of }) {
      const server = yield* start()
      const asking = yield* Effect.forkChild(server.ask("tools/call", { name: "plain", arguments: { text: "wait" } }))
      yield* settle
      yield* Fiber.interrupt(asking)
      yield* settle
      const [span] = of("tools/call plain")
      assert.isTrue(span?.status._tag === "Ended" && Exit.hasInterrupts(span.status.exit))
    })))
})

/** Runs with metrics of its own. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())

const requests = (method: string, code: string) =>
  Effect.map(Metric.value(Metric.withAttributes(ServerMetrics.requests, { method, code })), ({ count }) => count)

describe("metrics", () => {
  it.effect("count requests by method and code, and nothing that a client makes up", () =>
    Effect.gen(function*() {
      const server = yield* start()
      for (let again = 0; again < 3; again++) yield* server.ask("tools/list")
      yield* server.ask("tasks/get", { taskId: "unknown" })
      yield* server.ask("made/up")
      yield* server.ask("tools/list", {}, { capabilities: "nonsense" })
      yield* server.ask("tools/call", { name: "plain", arguments: { text: "break" } })
      assert.strictEqual(yield* requests("tools/list", "ok"), 3)
      assert.strictEqual(yield* requests("tasks/get", "-32602"), 1)
      assert.strictEqual(yield* requests("none", "-32601"), 1)
      assert.strictEqual(yield* requests("none", "-32602"), 1)
      assert.strictEqual(yield* requests("tools/call", "other"), 1)
      const time = yield* Metric.value(Metric.withAttributes(ServerMetrics.requestTime, { method: "tools/list" }))
      assert.strictEqual(time.count, 3)
      const labels = JSON.stringify((yield* Metric.snapshot).map(({ attributes }) => attributes))
      assert.notInclude(labels, "made/up")
    }).pipe(counted))

  it.effect("know how many listen, what was sent to them, and who left", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* create(server, "wait")
      const listeners = Effect.map(Metric.value(ServerMetrics.listeners), ({ value }) => value)
      const first = yield* server.listen([taskId])
      const second = yield* server.listen([taskId])
      yield* first.rest
      yield* second.rest
      assert.strictEqual(yield* listeners, 2)
      assert.strictEqual((yield* Metric.value(ServerMetrics.notifications)).count, 4)
      yield* first.leave
      assert.strictEqual(yield* listeners, 1)
      const left = Metric.withAttributes(ServerMetrics.abandoned, { method: "subscriptions/listen" })
      assert.strictEqual((yield* Metric.value(left)).count, 1)
      yield* server.endSubscriptions
      yield* second.rest
      assert.strictEqual(yield* listeners, 0)
      assert.strictEqual(yield* requests("subscriptions/listen", "ok"), 1)
    }).pipe(counted))
})

describe("GET /metrics", () => {
  it.live("is what Prometheus reads, under the hosts of the endpoint only", () =>
    Effect.gen(function*() {
      yield* Metric.update(Metric.withAttributes(ServerMetrics.requests, { method: "tasks/get", code: "ok" }), 7)
      const context = yield* Layer.build(Layer.fresh(
        HttpRouter.serve(HttpTransport.layerMetrics(), { disableLogger: true, disableListenLog: true }).pipe(
          Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
        )
      ))
      const { address } = Context.get(context, HttpServer.HttpServer)
      const port = Number(new URL(HttpServer.formatAddress(address)).port)
      const get = (headers: Record<string, string> = {}) => exchange({ port, method: "GET", path: "/metrics", headers })
      const { headers, status, text } = yield* get()
      assert.deepStrictEqual([status, headers["content-type"]], [200, "text/plain; version=0.0.4; charset=utf-8"])
      assert.match(text, /^# TYPE mcp_requests counter$/m)
      assert.match(text, /^mcp_requests\{(?:code="ok",method="tasks\/get"|method="tasks\/get",code="ok")\} 7$/m)
      assert.strictEqual((yield* get({ host: "evil.example" })).status, 403)
      assert.strictEqual((yield* get({ origin: "http://evil.example" })).status, 403)
      assert.strictEqual((yield* exchange({ port, path: "/metrics", chunks: [message("tools/list")] })).status, 404)
    }).pipe(counted))
})
