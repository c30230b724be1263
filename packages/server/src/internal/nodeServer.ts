/**
 * A server of Node as far as it matters here: whether anything serves its requests, how many are under way, and its
 * end.
 *
 * @since 0.2.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/**
 * A server of `node:http` or `node:https`.
 *
 * @since 0.2.0
 */
export interface NodeServer {
  on(event: string, listener: (first: unknown, second: NodeResponse) => void): unknown
  off(event: string, listener: (first: unknown, second: NodeResponse) => void): unknown
  listeners(event: string): ReadonlyArray<unknown>
  close(closed: () => void): unknown
  closeIdleConnections(): void
  closeAllConnections(): void
}

interface NodeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown
  end(body: string): unknown
  once(event: "close", listener: () => void): unknown
}

/**
 * What is answered where nothing serves.
 *
 * @since 0.2.0
 */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Who looks after the requests of a server.
 *
 * @since 0.2.0
 */
export interface Attendant {
  /** Takes requests away from whatever serves them. Those under way go on. */
  readonly dismiss: Effect.Effect<void>
  /** Waits until no request is under way. */
  readonly idle: Effect.Effect<void>
}

/** What takes part in serving a request. */
const events = ["request", "checkContinue", "upgrade"] as const

/** Node tells of these requests by an event of their own, if somebody listens for it, and then by no other. */
const apart: ReadonlySet<unknown> = new Set(["checkContinue", "upgrade"])

/**
 * Answers the requests of a server while nothing else listens for them, given the path and whether anything did before.
 *
 * @since 0.2.0
 */
export const attend = (
  server: NodeServer,
  notServing: (path: string, isStopping: boolean) => Answer
): Attendant => {
  let hasServed = false
  let underWay = 0
  const waiting = new Set<() => void>()

  const others = (event: string) =>
    server.listeners(event).filter((listener) => listener !== attending && listener !== counting)
  let isServed = false
  const ended = () => {
    if (--underWay > 0) return
    for (const resume of waiting) resume()
  }
  const counting = (_request: unknown, answering: Pick<NodeResponse, "once">): void => {
    underWay++
    answering.once("close", ended)
  }
  const attending = (request: unknown, response: NodeResponse): void => {
    if (isServed) return counting(request, response)
    const { body, headers, status } = notServing(pathOf(request), hasServed)
    // The request's body is not read, so the connection is of no further use.
    response.writeHead(status, { ...headers, connection: "close" })
    response.end(body)
  }
  server.on("request", attending)
  server.on("newListener", (event, listener: unknown) => {
    if (event === "request") isServed = hasServed = true
    // Only beside others: to listen is to take these requests away from `attending`.
    const name = String(event)
    if (apart.has(event) && listener !== counting && others(name).length === 0) server.on(name, counting)
  })
  server.on("removeListener", (event) => {
    if (event === "request") isServed = others("request").length > 0
    const name = String(event)
    if (apart.has(event) && others(name).length === 0) server.off(name, counting)
  })

  return {
    dismiss: Effect.sync(() => {
      for (const event of events) {
        for (const listener of others(event)) server.off(event, listener as () => void)
      }
    }),
    idle: Effect.callback((resume) => {
      const now = () => resume(Effect.void)
      if (underWay === 0) return now()
      waiting.add(now)
      return Effect.sync(() => waiting.delete(now))
    })
  }
}

const pathOf = (request: unknown): string =>
  (Predicate.hasProperty(request, "url") ? String(request.url) : "").split("?", 1)[0] ?? ""

/**
 * Closes the port, gives the last answers a while to leave, and closes every connection.
 *
 * @since 0.2.0
 */
export const close = (server: NodeServer, lastWords: Duration.Duration): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeIdleConnections()
  }).pipe(
    Effect.timeoutOption(lastWords),
    Effect.andThen(Effect.sync(() => server.closeAllConnections()))
  )
