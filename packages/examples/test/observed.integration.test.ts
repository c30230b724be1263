/** The program in the guide on observing: what Prometheus reads of it, and what a collector is sent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import * as Program from "./Program.ts"

/** A collector of traces, metrics and logs that only remembers what it was sent. */
interface Collector {
  readonly url: string
  readonly received: ReadonlyArray<string>
  readonly server: Server
}

const collector = Effect.acquireRelease(
  Effect.callback<Collector>((resume) => {
    const received: Array<string> = []
    const server = createServer((request, response) => {
      let text = ""
      request.on("data", (chunk: unknown) => text += String(chunk))
      request.on("end", () => {
        received.push(`${request.url} ${text}`)
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, received, server }))
    })
  }),
  ({ server }) => Effect.sync(() => server.closeAllConnections())
)

const traceId = "0af7651916cd43dd8448eb211c80319c"

const call = (url: string, path: string) =>
  Effect.promise(() =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "index"
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "index",
          arguments: { path },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
            traceparent: `00-${traceId}-b7ad6b7169203331-01`
          }
        }
      })
    }).then((response) => response.text())
  )

describe("an observed server", () => {
  it.live("serves metrics, and sends the spans of a request and of its task in the caller's trace", () =>
    Effect.gen(function*() {
      const { received, url: OTEL_EXPORTER_OTLP_ENDPOINT } = yield* collector
      const env = { ...process.env, PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT }
      const options = { env, isUp: /Listening on http:\/\/127\.0\.0\.1:\d+/ }
      const { welcome } = yield* Program.launch(process.execPath, Program.fromSource("observed.ts"), options)
      const [, url = ""] = /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(welcome) ?? []
      const secret = "an-argument-of-the-call"
      assert.include(yield* call(url, secret), `"resultType":"task"`)
      const metrics = yield* Effect.promise(() => fetch(`${url}/metrics`).then((response) => response.text()))
      assert.match(metrics, /^mcp_requests\{[^}]*method="tools\/call"[^}]*\} 1$/m)
      assert.match(metrics, /^mcp_tasks_created\{[^}]*tool="index"[^}]*\} 1$/m)
      const traces = yield* Effect.sync(() => received.filter((text) => text.startsWith("/v1/traces")).join("\n")).pipe(
        Effect.tap(Effect.sleep("100 millis")),
        Effect.repeat({ until: (text) => text.includes(`"read"`) && text.includes("tools/call index") }),
        Effect.timeout("2 minutes")
      )
      assert.isAtLeast(traces.split(`"traceId":"${traceId}"`).length - 1, 3)
      assert.notInclude(traces, secret)
    }))
})
