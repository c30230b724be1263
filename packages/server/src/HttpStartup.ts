/**
 * What an HTTP server says while it does not serve: a program opens its port first and is ready later, and it is done
 * with its work before the port closes.
 *
 * Guarantee: for as long as the port is open, every request is answered. Where nothing serves requests yet, or any
 * more, that is 503 with `Retry-After`; Node alone would leave them open for ever, or refuse the connection.
 *
 * @since 0.2.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as nodeServer from "./internal/nodeServer.ts"

/**
 * How a server stops, among what else its options say.
 *
 * @category models
 * @since 0.2.0
 */
export interface StopOptions {
  /** How long requests that are under way when the server stops may take to their end; 2 seconds. */
  readonly gracefulShutdownTimeout?: Duration.Input | undefined
  /** Always true here: the port closes last. */
  readonly disablePreemptiveShutdown?: boolean | undefined
}

/** How long a request that was interrupted may take to end: one that writes is not interrupted in the middle of it. */
const interruptedEnd = Duration.seconds(1)

/** How long the last answers may take to leave. */
const lastWords = Duration.millis(500)

/**
 * Listens on a port, and answers on it from before anything serves requests until after everything has ended.
 *
 * **When to use**
 *
 * In every program that listens, as the last layer that is provided: so the port opens first and closes last. Between
 * the port and the first answer lie the store, its migrations and the tasks that are taken up. To open the port after
 * them is worse: a second program on the same port would take up the tasks of the one that runs, and then find that it
 * cannot have the port. Between the last request and the end of the process lies the time of grace that handlers have.
 *
 * **Details**
 *
 * A request that comes while nothing serves is answered with 503 and `connection: close`. `GET /health/live` is 200 all
 * the time, since the process runs; `/health/ready` is 503.
 *
 * When what serves requests ends, no more are served from that moment; those under way have `gracefulShutdownTimeout`,
 * and are then interrupted. That takes a second longer at most, whatever they wait for.
 *
 * **Example**
 *
 * ```ts
 * Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, { host: "127.0.0.1", port: 3000 }))
 * ```
 *
 * @category layers
 * @since 0.2.0
 */
export const layer = <Server extends nodeServer.NodeServer, Options extends StopOptions, A, E, R>(
  listen: (create: () => Server, options: Options) => Layer.Layer<A | HttpServer.HttpServer, E, R>,
  create: () => Server,
  options: NoInfer<Options>
): Layer.Layer<A | HttpServer.HttpServer, E, R> =>
  Layer.fromBuildMemo((memoMap, scope) =>
    Effect.gen(function*() {
      const server = create()
      const attendant = nodeServer.attend(server, notServing)
      const listening = listen(() => server, { ...options, disablePreemptiveShutdown: true })
      const context = yield* Layer.buildWithMemoMap(listening, memoMap, scope)
      yield* Scope.addFinalizer(scope, nodeServer.close(server, lastWords))
      const grace = Duration.fromInputUnsafe(options.gracefulShutdownTimeout ?? "2 seconds")
      return Context.add(
        context,
        HttpServer.HttpServer,
        draining(Context.get(context, HttpServer.HttpServer), attendant, grace)
      )
    })
  )

/** The same server, which no longer takes requests when what serves them ends, and does not wait for them for ever. */
const draining = (
  server: HttpServer.HttpServer["Service"],
  { dismiss, idle }: nodeServer.Attendant,
  grace: Duration.Duration
): HttpServer.HttpServer["Service"] =>
  HttpServer.make({
    address: server.address,
    serve: Effect.fnUntraced(function*(app, middleware) {
      const requests = yield* Effect.acquireRelease(Scope.make(), (requests, exit) =>
        Effect.gen(function*() {
          yield* dismiss
          yield* Effect.timeoutOption(idle, grace)
          const ending = yield* Effect.forkDetach(Scope.close(requests, exit))
          yield* Effect.timeoutOption(Fiber.await(ending), interruptedEnd)
        }))
      const serving = middleware === undefined ? server.serve(app) : server.serve(app, middleware)
      yield* Scope.provide(serving, requests)
    })
  })

const json = { "content-type": "application/json", "cache-control": "no-store" }
const unavailable = { ...json, "retry-after": "1" }
const refusal = JsonRpc.error(null, WireError.internalError("Service unavailable: the server is starting or stopping"))

/** The routes are those of `HealthRoutes`, which says the same while it is served. */
const notServing = (path: string, isStopping: boolean): nodeServer.Answer => {
  switch (path) {
    case "/health/live":
      return { status: 200, headers: json, body: JSON.stringify({ live: true }) }
    case "/health/ready":
      return {
        status: 503,
        headers: unavailable,
        body: JSON.stringify({ ready: false, stopping: isStopping, loops: {} })
      }
    default:
      return { status: 503, headers: unavailable, body: refusal }
  }
}
