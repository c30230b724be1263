/**
 * What an HTTP server says before it serves, and when it cannot: a program opens its port first, and is ready later.
 *
 * Guarantee: from the moment the port is open, every request is answered. Where nothing serves requests yet, or any
 * more, that is 503 with `Retry-After`; Node alone would leave them open for ever.
 *
 * @since 0.2.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as startFailure from "./internal/startFailure.ts"

/**
 * @since 0.2.0
 */
export { CannotStart } from "./internal/startFailure.ts"

/**
 * A server of `node:http` or `node:https`, as far as it matters here.
 *
 * @category models
 * @since 0.2.0
 */
export interface NodeServer {
  on(event: string, listener: (first: unknown, second: NodeResponse) => void): unknown
  off(event: string, listener: (first: unknown, second: NodeResponse) => void): unknown
  listenerCount(event: string): number
}

/** A response of Node, as far as it matters here. */
interface NodeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown
  end(body: string): unknown
}

/**
 * Makes the servers that a function makes answer while nothing serves their requests.
 *
 * **When to use**
 *
 * In every program that listens: between the port and the first answer lie the store, its migrations and the tasks that
 * are taken up. To open the port last instead is worse: a second program on the same port would take up the tasks of
 * the one that runs, and then find that it cannot have the port.
 *
 * **Details**
 *
 * It costs nothing once something serves. When that ends before the server does, requests are answered with 503 again.
 * So are the routes of `HealthRoutes`: not ready.
 *
 * **Example**
 *
 * ```ts
 * Layer.provide(NodeHttpServer.layer(HttpStartup.answering(createServer), { host: "127.0.0.1", port: 3000 }))
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const answering = <Server extends NodeServer>(create: () => Server) => (): Server => {
  const server = create()
  const isOther = (event: unknown, listener: unknown) => event === "request" && listener !== notServing
  server.on("newListener", (event, listener) => {
    if (isOther(event, listener)) server.off("request", notServing)
  })
  server.on("removeListener", (event, listener) => {
    if (isOther(event, listener) && server.listenerCount("request") === 0) server.on("request", notServing)
  })
  server.on("request", notServing)
  return server
}

const body = JsonRpc.error(null, WireError.internalError("Service unavailable: the server is starting or stopping"))

const notServing = (_: unknown, response: NodeResponse): void => {
  // The request's body is not read, so the connection is of no further use.
  response.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" })
  response.end(body)
}

/**
 * Runs a server until it is told to end, as `Layer.launch` does, and says in one line of the log why it cannot start.
 *
 * **Details**
 *
 * A port that is in use, a file or a database that cannot be used, and wrong configuration are told in a sentence that
 * says what to do, and the program ends with exit code 1. Everything else, such as a tool that cannot be offered, is
 * the program's own fault and keeps its stack trace.
 *
 * **Example**
 *
 * ```ts
 * server.pipe(HttpStartup.launch, NodeRuntime.runMain)
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
