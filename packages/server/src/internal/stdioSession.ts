/**
 * What one client of the standard streams has asked, and what is still to be answered.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { Dispatcher, type Received } from "../Dispatcher.ts"
import type * as lines from "./lines.ts"
import * as listen from "./listen.ts"
import * as stopping from "./stopping.ts"

type Request = Extract<Received, { readonly _tag: "Request" }>

/** A request in flight. */
interface InFlight {
  readonly isSubscription: boolean
  isCancelled: boolean
  hasSent: boolean
  fiber: Fiber.Fiber<void> | undefined
}

/**
 * How a session writes, and how much it works on at a time.
 *
 * @since 0.1.0
 */
export interface SessionOptions {
  readonly write: (message: string) => Effect.Effect<void>
  readonly maxInFlight: number
}

/**
 * Makes a session. Its requests are worked on in the current scope, for the current owner.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*({ maxInFlight, write }: SessionOptions) {
  const dispatcher = yield* Dispatcher
  const services = yield* Effect.context<CurrentOwner>()
  const scope = yield* Effect.scope
  const inFlight = new Map<JsonRpc.Id, InFlight>()

  const refuse = (id: JsonRpc.Id | null, error: WireError.WireError) => write(JsonRpc.error(id, error))

  const work = (request: Request, entry: InFlight) =>
    answer(request, entry, write).pipe(
      Effect.ensuring(Effect.sync(() => inFlight.get(request.id) === entry && inFlight.delete(request.id))),
      Effect.provideContext(services)
    )

  const begin = (request: Request): Effect.Effect<void> => {
    // Under its id, the refusal could be taken for the answer to the request that has it already.
    if (inFlight.has(request.id)) return refuse(null, idInUse)
    if (inFlight.size >= maxInFlight) return refuse(request.id, tooMany(maxInFlight))
    const isSubscription = request.method === listen.method
    const entry: InFlight = { isSubscription, isCancelled: false, hasSent: false, fiber: undefined }
    inFlight.set(request.id, entry)
    return Effect.map(Effect.forkIn(work(request, entry), scope), (fiber) => {
      entry.fiber = fiber
    })
  }

  const cancel = (id: Schema.Json | undefined): void => {
    const entry = JsonRpc.isId(id) ? inFlight.get(id) : undefined
    if (!JsonRpc.isId(id) || entry === undefined) return
    entry.isCancelled = true
    inFlight.delete(id)
    entry.fiber?.interruptUnsafe()
  }

  return {
    receive: (line: lines.Line): Effect.Effect<void> => {
      const body = decode(line)
      if (Result.isFailure(body)) return refuse(null, body.failure)
      if (isBlank(body.success)) return Effect.void
      const received = dispatcher.receive({ headers: undefined, body: body.success })
      switch (received._tag) {
        case "Refused":
          return Effect.flatMap(received.reply, ({ body }) => body === undefined ? Effect.void : write(body))
        case "Request":
          return begin(received)
        case "Notification":
          return Effect.sync(() => {
            const { method, params } = received.notification
            if (method === cancelled) cancel(params?.requestId)
          })
      }
    },
    /** Waits until everything in flight has been answered. */
    idle: Effect.suspend(() => Fiber.awaitAll(fibersOf(inFlight))),
    /** Interrupts every request in flight but subscriptions, and answers it so. */
    stopCalls: Effect.suspend(() => {
      const calls = Array.from(inFlight).filter(([, { isSubscription }]) => !isSubscription).map(([id]) => id)
      calls.forEach(cancel)
      return Effect.forEach(calls, (id) => write(stopping.reply(id).body), { discard: true })
    }),
    /** Interrupts what is still in flight. */
    stop: Effect.suspend(() => Fiber.interruptAll(fibersOf(inFlight)))
  }
})

/** Answers a request, and says so when it was a subscription that the server has ended. */
const answer = (
  request: Request,
  entry: InFlight,
  write: SessionOptions["write"]
): Effect.Effect<void, never, CurrentOwner> => {
  const send = (message: string) =>
    Effect.suspend(() => {
      if (entry.isCancelled) return Effect.void
      entry.hasSent = true
      return write(message)
    })
  return Effect.flatMap(request.run(send), ({ body }) => {
    const isTornDown = entry.isSubscription && entry.hasSent
    const reply = body === undefined ? Effect.void : send(body)
    return isTornDown ? Effect.andThen(reply, send(tornDown(request.id))) : reply
  })
}

const fibersOf = (inFlight: ReadonlyMap<JsonRpc.Id, InFlight>) =>
  Array.from(inFlight.values(), ({ fiber }) => fiber).filter((fiber) => fiber !== undefined)

const cancelled = "notifications/cancelled"

/** What a server sends when it ends a subscription on a transport without streams (MCP, "Cancellation"). */
const tornDown = (requestId: JsonRpc.Id): string => JsonRpc.notification(cancelled, JSON.stringify({ requestId }))

const idInUse = WireError.invalidRequest("Invalid request: the id of a request in flight was used again")

const tooMany = (limit: number) => WireError.internalError(`Too many requests at a time: ${limit} are allowed`)

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decode = (line: lines.Line): Result.Result<string, WireError.WireError> =>
  line === undefined
    ? Result.fail(WireError.invalidRequest("Invalid request: the message is longer than this server reads"))
    : Result.try({ try: () => utf8.decode(line), catch: () => WireError.parseError("Parse error: not UTF-8") })

/** Blanks between messages are no message. */
const isBlank = (line: string): boolean => /^[ \t\r]*$/.test(line)
