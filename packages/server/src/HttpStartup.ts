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
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as nodeServer from "./internal/nodeServer.ts"
import * as reasons from "./internal/reasons.ts"

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

/**
 * The server could not be started: its port is taken, or its storage is away or not what it should be. It has been said
 * in the log already.
 *
 * @category errors
 * @since 0.2.0
 */
export class CannotStart extends Schema.TaggedError<CannotStart>()("CannotStart", { cause: Schema.Defect() }) {
  readonly [Runtime.errorReported] = false
  override get message(): string {
    return `The server cannot start: ${reasons.of(this.cause)}`
  }
}

/**
 * Runs a server until it is told to end. When it cannot start, it says why on one line of the log, and fails.
 *
 * **When to use**
 *
 * In place of `Layer.launch`, with `teardown`. A server does not wait for a storage that is away when it starts: it ends
 * with exit code 1, and whoever started it does so again. One that runs does wait.
 *
 * **Example** (A program)
 *
 * ```ts
 * TaskServer.layerHttp({ name: "reports", version: "1.0.0", toolkit }).pipe(
 *   Layer.provide([Handlers, TaskStore.layerSql, TaskOwner.layerAnonymous]),
 *   Layer.provide(SqliteClient.layer({ filename: "tasks.sqlite" })),
 *   Layer.provide(HttpStartup.layer(NodeHttpServer.layer, createServer, { host: "127.0.0.1", port: 3000 })),
 *   HttpStartup.launch,
 *   NodeRuntime.runMain({ teardown: HttpStartup.teardown })
 * )
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const launch = <A, E, R>(server: Layer.Layer<A, E, R>): Effect.Effect<never, CannotStart, R> =>
  Effect.catchCause(Layer.launch(server), (cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const failure = new CannotStart({ cause: Cause.squash(cause) })
    return Effect.andThen(
      Effect.andThen(Effect.logFatal(failure.message), Effect.logDebug("Why the server cannot start", cause)),
      Effect.fail(failure)
    )
  })

/**
 * Has a program end with exit code 0 that was told to end and did: `NodeRuntime.runMain` alone gives 130, which makes a
 * deploy look like a failure.
 *
 * @category constants
 * @since 0.2.0
 */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

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
