/**
 * What a replica is observed by: metrics on a port of their own, and what becomes of tasks in the log.
 *
 * @since 0.2.0
 */
import { TaskAudit } from "@effect-mcp-tasks/engine"
import { HttpStartup, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"

const host = process.env.METRICS_HOST ?? "127.0.0.1"
const port = Number(process.env.METRICS_PORT ?? 9464)

/** A router of its own, at an address that only Prometheus reaches. */
const Metrics = HttpRouter.serve(HttpTransport.layerMetrics({ allowedHosts: [host] }), { disableLogger: true }).pipe(
  Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, { host, port }))
)

/** Provided last, it begins first and ends last. */
export const observability = Layer.merge(Metrics, TaskAudit.layerLog)
