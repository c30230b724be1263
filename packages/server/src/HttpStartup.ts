/**
 * What an HTTP server says while it does not serve, and when it cannot: a program opens its port first and is ready
 * later, and it is done with its work before the port closes.
 *
 * Guarantee: for as long as the port is open, every request is answered. Where nothing serves requests yet, or any
 * more, that is 503 with `Retry-After`; Node alone would leave them open for ever, or refuse the connection.
 *
 * @since 0.2.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as nodeServer from "./internal/nodeServer.ts"
import * as startFailure from "./internal/startFailure.ts"
import * as stopping from "./internal/stopping.ts"

/**
 * @since 0.2.0
 */
export { CannotStart } from "./internal/startFailure.ts"

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

/** How long event streams may take to say that they end with the server. */
const farewell = Duration.millis(250)

/** How long a request that was interrupted may take to end: one that writes is not interrupted in the middle of it. */
const interruptedEnd = Duration.millis(750)

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
 * and are then interrupted: a request to the endpoint is answered with -32603, which says that the server is stopping.
 * That takes a second longer at most, whatever they wait for.
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
      const last = Latch.makeUnsafe()
      const drained = draining(Context.get(context, HttpServer.HttpServer), attendant, { grace, last })
      return context.pipe(
        Context.add(HttpServer.HttpServer, drained),
        Context.add(stopping.LastWords, Option.some(last))
      )
    })
  )

/**
 * Runs a server until it is told to end, as `Layer.launch` does, and says in one line of the log why it cannot start.
 *
 * **Details**
 *
 * A server does not wait for a storage that is away when it starts: it ends, and whoever started it does so again. One
 * that runs does wait.
 *
 * A port that is in use, a file or a database that cannot be used, and wrong configuration are told in a sentence that
 * says what to do, and the program ends with exit code 1. Everything else, such as a tool that cannot be offered, is
 * the program's own fault and keeps its stack trace.
 *
 * **Example**
 *
 * ```ts
 * server.pipe(HttpStartup.launch, NodeRuntime.runMain({ teardown: HttpStartup.teardown }))
 * ```
 *
 * @category running
 * @since 0.2.0
 */
export const launch = <A, E, R>(
  server: Layer.Layer<A, E, R>
): Effect.Effect<never, E | startFailure.CannotStart, R> => startFailure.explained(Layer.launch(server))

/**
 * Why a layer that failed with this error cannot start, in one sentence; none where that is the program's own fault.
 *
 * **When to use**
 *
 * In programs that tell it in their own way; others use `launch`.
 *
 * @category running
 * @since 0.2.0
 */
export const reason = (error: unknown): Option.Option<string> => startFailure.sentence(error)

/**
 * Has a program end with exit code 0 that was told to end and did: `NodeRuntime.runMain` alone gives 130, which makes a
 * deploy look like a failure.
 *
 * @category running
 * @since 0.2.0
 */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

/** The same server, which no longer takes requests when what serves them ends, and does not wait for them for ever. */
const draining = (
  server: HttpServer.HttpServer["Service"],
  { dismiss, idle }: nodeServer.Attendant,
  { grace, last }: { readonly grace: Duration.Duration; readonly last: Latch.Latch }
): HttpServer.HttpServer["Service"] =>
  HttpServer.make({
    address: server.address,
    serve: Effect.fnUntraced(function*(app, middleware) {
      const requests = yield* Effect.acquireRelease(Scope.make(), (requests, exit) =>
        Effect.gen(function*() {
          yield* dismiss
          const isIdle = yield* Effect.timeoutOption(idle, grace)
          last.openUnsafe()
          if (Option.isNone(isIdle)) yield* Effect.timeoutOption(idle, farewell)
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
