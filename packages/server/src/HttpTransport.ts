/**
 * Streamable HTTP: one endpoint that takes each message as a POST and answers it with one JSON document, or with an
 * event stream when notifications precede the answer.
 *
 * Before a message is read, the request must come from where it may come from (`Host`, `Origin`), be a POST of JSON,
 * and be small enough. A plain tool call is interrupted when its client goes away; the handler of a task is not, since
 * it belongs to nobody's request. Only a task whose client goes away before it was answered with it is cancelled: no
 * client would ever know of it. What the end of the server interrupts is answered with -32603 that says so.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as UrlParams from "effect/http/UrlParams"
import type * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Option from "effect/Option"
import { Dispatcher, type Received, type Reply, type Streaming } from "./Dispatcher.ts"
import * as eventStream from "./internal/eventStream.ts"
import * as httpBody from "./internal/httpBody.ts"
import * as httpGuard from "./internal/httpGuard.ts"
import * as listen from "./internal/listen.ts"
import * as openAnswer from "./internal/openAnswer.ts"
import * as stopping from "./internal/stopping.ts"

/**
 * How the endpoint is served. Every field has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions {
  /** Path of the endpoint; `/mcp`. */
  readonly path?: HttpRouter.PathInput | undefined
  /** Names, without port, that requests may be addressed to besides `localhost`, `127.0.0.1` and `[::1]`. */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * Origins, such as `https://app.example`, whose pages may call besides those served from an allowed host. Pages from
   * `localhost` and the like may call where the server itself is addressed so; elsewhere they must be named here.
   * What browsers want to hear of it before they send such a request (CORS) is `HttpRouter.cors`, beside this layer.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** The largest body that is read, in bytes; 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** How long a client may take to send its request; 30 seconds. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** How long an event stream may be silent before it sends a comment; 15 seconds. */
  readonly keepAlive?: Duration.Input | undefined
  /** How long a client may leave a message of an event stream unread before it is disconnected; 1 minute. */
  readonly readTimeout?: Duration.Input | undefined
}

/**
 * Serves the dispatcher on a router.
 *
 * **When to use**
 *
 * With `HttpRouter.serve`, beside whatever else the router serves. Bind the server to a loopback address unless
 * callers are authenticated (Streamable HTTP, "Security & Endpoint"), and make it with `HttpStartup.layer`, so that it
 * answers for as long as its port is open.
 *
 * **Details**
 *
 * Every request must bring its owner: router middleware provides `CurrentOwner` to this layer from what it found in the
 * request, or `TaskOwner.layerAnonymous` is provided to what serves the router, and everybody is one anonymous owner.
 * Whichever is left out is missing at compile time; a request that comes without an owner all the same is refused with
 * 403 before it is read. An owner that this layer is built with is none of any request.
 *
 * `Host` and `Origin` come before any middleware: who may not call is not asked for a token. So they do for the
 * protected-resource metadata document on the same router. Under a path with parameters, or a prefix of the router, the
 * endpoint's middleware comes first.
 *
 * **Example** (Authentication of your own)
 *
 * ```ts
 * const authenticated = HttpRouter.middleware<{ provides: TaskOwner.CurrentOwner }>()((endpoint) =>
 *   Effect.flatMap(ownerOfTheRequest, (owner) => Effect.provideService(endpoint, TaskOwner.CurrentOwner, owner)))
 *
 * HttpRouter.serve(HttpTransport.layer().pipe(Layer.provide(authenticated.layer)))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: HttpOptions = {}
): Layer.Layer<
  never,
  never,
  Dispatcher | HttpRouter.HttpRouter | HttpRouter.Request<"Requires", TaskOwner.CurrentOwner>
> =>
  HttpRouter.use((router) =>
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const path = options.path ?? "/mcp"
      const guard = httpGuard.make(options)
      yield* router.addGlobalMiddleware(httpGuard.before(options, path))
      const read = yield* httpBody.make({
        maxBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
        timeout: Duration.fromInputUnsafe(options.bodyTimeout ?? "30 seconds")
      })
      const toResponse = eventStream.make({
        keepAlive: Duration.fromInputUnsafe(options.keepAlive ?? "15 seconds"),
        readTimeout: Duration.fromInputUnsafe(options.readTimeout ?? "1 minute")
      })
      const lastWords = yield* stopping.LastWords
      const stream = (answer: Streaming) =>
        Effect.flatMap(openAnswer.open(answer), (opened) =>
          "body" in opened ? Effect.succeed(respond(opened)) : toResponse(opened))
      const answer = (received: Received) => {
        if (received._tag === "Refused") return Effect.map(received.reply, respond)
        if (received._tag === "Notification") return Effect.succeed(accepted)
        return received.mayStream
          ? stream(untilStopped(received, lastWords))
          : Effect.map(received.run(unheard), respond)
      }
      const serve = (request: HttpServerRequest.HttpServerRequest) =>
        guard(request) ?? owned(Effect.suspend(() => {
          let id: JsonRpc.Id | null = null
          const served = read(request).pipe(
            Effect.flatMap((body) => {
              const received = dispatcher.receive({ headers: request.headers, body })
              if (received._tag === "Request") id = received.id
              return answer(received)
            }),
            Effect.catch(Effect.succeed)
          )
          return stopping.answered(served, () => stopping.response(id))
        }))
      yield* router.add("*", path, Effect.flatMap(HttpServerRequest.HttpServerRequest, serve))
    })
  )

type Request = Extract<Received, { readonly _tag: "Request" }>

/** A call that may stream. Subscriptions are ended by the dispatcher, in good order. */
const untilStopped = (request: Request, lastWords: Option.Option<Latch.Latch>): Streaming =>
  Option.isNone(lastWords) || request.method === listen.method ? request : {
    run: (send) =>
      Effect.raceFirst(request.run(send), Effect.as(lastWords.value.await, stopping.reply(request.id)))
  }

/** The types demand an owner; middleware may be wrong about providing one, and then nobody is served by mistake. */
const owned = <R>(serve: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
  Effect.flatMap(Effect.serviceOption(TaskOwner.CurrentOwner), (owner) => Option.isSome(owner) ? serve : nobody)

const nobody = Effect.succeed(httpGuard.refusal(403, "Forbidden: the request has no owner"))

/**
 * Ends every subscription in good order, as the first thing when the program ends.
 *
 * **When to use**
 *
 * Above what serves the router: a server that waits for its connections before it closes would wait for subscriptions
 * in vain. `TaskServer.layerHttp` holds it.
 *
 * **Example** (A router of your own)
 *
 * ```ts
 * HttpTransport.layerEndSubscriptions.pipe(
 *   Layer.provideMerge(HttpRouter.serve(HttpTransport.layer())),
 *   Layer.provide(Dispatcher.layer({ name: "reports", version: "1.0.0" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEndSubscriptions: Layer.Layer<never, never, Dispatcher> = Layer.effectDiscard(
  Effect.flatMap(Dispatcher, ({ endSubscriptions }) => Effect.addFinalizer(() => endSubscriptions))
)

/**
 * Keeps the values of a request's query out of the spans that the router's server makes of requests.
 *
 * **When to use**
 *
 * Given to what serves the router, by `Layer.provide`: Effect writes the query of every request on its span, and a
 * client that sends its token in there, against RFC 6750, would find it with whoever reads traces. A layer of a route
 * cannot do it. `TaskServer.layerHttp` has it.
 *
 * **Gotchas**
 *
 * Names of parameters stay, and so does a query without any `=`.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerRedactQuery: Layer.Layer<never> = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

/**
 * Serves the metrics of this process, those of requests and tasks among them, to a GET in the text format of
 * Prometheus.
 *
 * **When to use**
 *
 * Beside `layer` on the same router, or on a router of its own where metrics are not for everyone who can reach the
 * endpoint.
 *
 * **Details**
 *
 * Answers under the same hosts, and to the same origins, as the endpoint does. What else is measured in the process,
 * by `Metric`, is served too.
 *
 * @category layers
 * @since 0.2.0
 */
export const layerMetrics = (
  { path = "/metrics", ...allowed }: Pick<HttpOptions, "path" | "allowedHosts" | "allowedOrigins"> = {}
): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const guard = httpGuard.makeAddressGuard(allowed)
  const contentType = "text/plain; version=0.0.4; charset=utf-8"
  const served = Effect.map(PrometheusMetrics.format(), (text) => HttpServerResponse.text(text, { contentType }))
  return HttpRouter.add("GET", path, (request) => guard(request) ?? served)
}

const respond = ({ body, httpStatus, retryAfter }: Reply): HttpServerResponse.HttpServerResponse =>
  body === undefined
    ? HttpServerResponse.empty({ status: httpStatus })
    : HttpServerResponse.text(body, {
      status: httpStatus,
      contentType: "application/json",
      ...(retryAfter === undefined ? {} : { headers: { "retry-after": inSeconds(retryAfter) } })
    })

const unheard = () => Effect.void

/** This revision defines no notification for which there is anything to do here. */
const accepted = HttpServerResponse.empty({ status: 202 })

const inSeconds = (duration: Duration.Duration): string =>
  Headers.formatRetryAfter(Headers.retryAfterDuration(duration))
