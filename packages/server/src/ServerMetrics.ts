/**
 * What can be measured of requests, as metrics of Effect: read them with `Metric.snapshot`, export them with
 * `effect/observability`, or let `HttpTransport.layerMetrics` serve them to Prometheus.
 *
 * Every process counts what it did itself, so that the sum over all replicas is right. Durations are in milliseconds.
 * No label carries what a client may choose: methods and codes that are not known here are `other`.
 *
 * @since 0.2.0
 */
import * as Metric from "effect/Metric"

/**
 * Requests answered, by `method` and by `code`: that of the JSON-RPC error, or `ok`.
 *
 * **Details**
 *
 * A request that is refused before its method is known has the method `none`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const requests = Metric.counter("mcp_requests", { description: "Requests answered", incremental: true })

/**
 * Requests whose client went away, or which were cancelled, before they were answered, by `method`.
 *
 * @category metrics
 * @since 0.2.0
 */
export const abandoned = Metric.counter("mcp_requests_abandoned", {
  description: "Requests that nobody waited for any more",
  incremental: true
})

/**
 * How long requests took from admission to their answer, by `method`; those of `subscriptions/listen` are left out.
 *
 * @category metrics
 * @since 0.2.0
 */
export const requestTime = Metric.histogram("mcp_request_time", {
  description: "Milliseconds from the admission of a request to its answer",
  boundaries: [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 30_000]
})

/**
 * Subscriptions that this process serves now.
 *
 * @category metrics
 * @since 0.2.0
 */
export const listeners = Metric.gauge("mcp_listeners", { description: "Subscriptions served now" })

/**
 * Notifications sent to those who listen.
 *
 * @category metrics
 * @since 0.2.0
 */
export const notifications = Metric.counter("mcp_notifications", {
  description: "Notifications sent to subscriptions",
  incremental: true
})
