/** The ways to reach one server: over HTTP, by the standard streams, and within the process. */
import { Embedded, TaskLimits, TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import {
  Authentication, Dispatcher, HttpTransport, InMemoryTransport, RateLimits, StdioTransport, TokenVerifier
} from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import {
  type Cause, Context, Effect, Exit, Layer, Logger, Option, Queue, Redacted, Schema, Scope, Sink, Stdio, Stream
} from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { type Connection, Message, type Raw, settle } from "./Connection.ts"
import * as DutyTools from "./DutyTools.ts"
import { endpointOf } from "./HttpEndpoint.ts"

const issuer = "https://issuer.example"

/** The owner that a transport knows by a name. */
export const owner = (subject: string): TaskOwner.TaskOwner => TaskOwner.principal({ issuer, subject })

/** How the server of a test differs from the usual one. */
export interface Options {
  readonly limits?: Partial<TaskLimits.Limits>
  readonly rates?: RateLimits.Rates
}

const services = (options: Options) =>
  Dispatcher.layer({ name: "duties", version: "1.2.3", instructions: "Do your duty" }).pipe(
    Layer.provideMerge(Embedded.layer),
    Layer.provide(DutyTools.layer),
    Layer.provideMerge(TaskStore.layerMemory),
    Layer.provide([TaskLimits.layer(options.limits ?? {}), RateLimits.layer(options.rates ?? {}), Logger.layer([])])
  )

type Context_ = Context.Context<Dispatcher.Dispatcher | TaskStore.TaskStore>

const behind = (context: Context_): Pick<Connection, "store" | "endSubscriptions"> => ({
  store: Context.get(context, TaskStore.TaskStore),
  endSubscriptions: Context.get(context, Dispatcher.Dispatcher).endSubscriptions
})

/** The dispatcher in the process of the test. */
export const memory = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Connection, never, Scope.Scope> {
  const layer = Layer.provideMerge(InMemoryTransport.layer, services(options))
  const context = yield* Effect.orDie(Layer.build(Layer.fresh(layer)))
  const transport = Context.get(context, InMemoryTransport.InMemoryTransport)
  const open: Connection["open"] = Effect.fnUntraced(function*(body, { as = "ada" } = {}) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const answer = yield* transport.send(undefined, body).pipe(
      Effect.provideService(TaskOwner.CurrentOwner, owner(as)),
      Effect.provideService(Scope.Scope, scope)
    )
    const messages = "messages" in answer ? answer.messages : Stream.fromIterable([answer.body ?? ""])
    const pull = yield* Effect.provideService(Stream.toPull(messages), Scope.Scope, scope)
    const pending: Array<string> = []
    const next = Effect.suspend(() =>
      pending.length > 0 ? Effect.void : Effect.map(pull, (texts) => pending.push(...texts))
    ).pipe(Effect.map(() => Schema.decodeUnknownSync(Message)(pending.shift())))
    return { status: undefined, headers: {}, next, leave: Effect.andThen(Scope.close(scope, Exit.void), settle) }
  })
  const send: Connection["send"] = (body, { as = "ada" } = {}) =>
    Context.get(context, Dispatcher.Dispatcher).handle({ headers: undefined, body }).pipe(
      Effect.flatMap(Dispatcher.finalReply),
      Effect.map((reply): Raw => ({ status: undefined, headers: {}, text: reply.body ?? "" })),
      Effect.provideService(TaskOwner.CurrentOwner, owner(as)),
      Effect.provideContext(context)
    )
  return { send, open, ...behind(context) }
})

/** Takes the subject itself for a token. */
const verifier = TokenVerifier.layer((token) => Effect.succeed({ owner: owner(Redacted.value(token)), scopes: [] }))

const resource = "https://mcp.example/mcp"

const endpoint = HttpTransport.layer({ keepAlive: "10 seconds" }).pipe(
  Layer.provide(Authentication.layer({ resource, authorizationServers: [issuer] })),
  Layer.provide(verifier)
)

/** Streamable HTTP over loopback, with a token for each owner. */
export const http = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Connection, never, Scope.Scope> {
  const context = yield* Effect.orDie(Layer.build(Layer.fresh(
    HttpRouter.serve(endpoint, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(services(options)),
      Layer.provideMerge(NodeHttpServer.layer(createServer, {
        host: "127.0.0.1",
        port: 0,
        disablePreemptiveShutdown: true
      }))
    )
  )))
  const { address } = Context.get(context, HttpServer.HttpServer)
  return { ...yield* endpointOf(`${HttpServer.formatAddress(address)}/mcp`), ...behind(context) }
})

const anyJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

type Fields = Readonly<Record<string, Schema.Json | undefined>>

const fieldsOf = (value: Schema.Json | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {}

/** What a text says that tells which request it belongs to, as far as it can be read. */
const partsOf = (text: string) => {
  const { id, method, params } = fieldsOf(Option.getOrUndefined(anyJson(text)))
  const { _meta, progressToken, requestId } = fieldsOf(params)
  return { id, method, requestId, progressToken, meta: fieldsOf(_meta) }
}

/** Something that waits for lines: all that answer one text. */
interface Waiting {
  readonly id: Schema.Json | undefined
  readonly token: Schema.Json | undefined
  readonly lines: Queue.Queue<string, Cause.Done>
  isAnswered: boolean
}

const belongsTo =
  ({ id, meta, method, progressToken, requestId }: ReturnType<typeof partsOf>) => (waiting: Waiting): boolean => {
    if (method === undefined) return id === waiting.id
    const ids = [meta["io.modelcontextprotocol/subscriptionId"], requestId]
    return (waiting.id !== undefined && ids.includes(waiting.id)) ||
      (waiting.token !== undefined && progressToken === waiting.token)
  }

/** One client of the standard streams. Every line that is written must belong to something that was sent. */
const session = Effect.fnUntraced(function*(context: Context_, as: string) {
  const input = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const waiting = new Set<Waiting>()
  const take = (line: string) => {
    assert.match(line, /^[^\n\r]+\n$/)
    const message = partsOf(line)
    // An id may be used again once its request is answered, so the latest counts.
    const found = [...waiting].toReversed().find(belongsTo(message)) ??
      (message.id === null ? [...waiting].find(({ isAnswered }) => !isAnswered) : undefined)
    if (found === undefined) return assert.fail(`nobody asked for ${line}`)
    if (message.method === undefined) found.isAnswered = true
    Queue.offerUnsafe(found.lines, line)
  }
  const stdout = () => Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => take(String(chunk))))
  yield* StdioTransport.serve().pipe(
    Effect.provideService(TaskOwner.CurrentOwner, owner(as)),
    Effect.provide(Stdio.layerTest({ stdin: Stream.fromQueue(input), stdout })),
    Effect.provideContext(context),
    Effect.forkScoped
  )
  const write = (body: string) => Queue.offer(input, new TextEncoder().encode(`${body}\n`))
  const begin = Effect.fnUntraced(function*(body: string) {
    const { id, meta } = partsOf(body)
    const lines = yield* Queue.unbounded<string, Cause.Done>()
    const entry: Waiting = { id, token: meta["progressToken"], lines, isAnswered: false }
    waiting.add(entry)
    yield* write(body)
    return entry
  })
  return { begin, write, done: (entry: Waiting) => Effect.sync(() => waiting.delete(entry)) }
})

const isNotification = (body: string): boolean => {
  const { id, method } = partsOf(body)
  return method !== undefined && id === undefined
}

/** The standard streams: a process has one owner, so here every owner has a session of its own with one server. */
export const stdio = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Connection, never, Scope.Scope> {
  const context = yield* Effect.orDie(Layer.build(Layer.fresh(services(options))))
  const scope = yield* Effect.scope
  const sessions = new Map<string, Effect.Success<ReturnType<typeof session>>>()
  const sessionOf = Effect.fnUntraced(function*(as: string) {
    const made = sessions.get(as) ?? (yield* Effect.provideService(session(context, as), Scope.Scope, scope))
    sessions.set(as, made)
    return made
  })
  const raw = (text: string): Raw => ({ status: undefined, headers: {}, text: text.trimEnd() })
  const send: Connection["send"] = Effect.fnUntraced(function*(body, { as = "ada" } = {}) {
    const { begin, done } = yield* sessionOf(as)
    const entry = yield* begin(body)
    if (isNotification(body)) {
      yield* settle
      // Silence is the answer to a notification, unless it was none.
      if ((yield* Queue.size(entry.lines)) === 0) return yield* Effect.as(done(entry), raw(""))
    }
    return raw(yield* Effect.orDie(Effect.ensuring(Queue.take(entry.lines), done(entry))))
  })
  const open: Connection["open"] = Effect.fnUntraced(function*(body, { as = "ada" } = {}) {
    const { begin, done, write } = yield* sessionOf(as)
    const entry = yield* Effect.acquireRelease(begin(body), done)
    const { id: requestId = null } = entry
    const cancelled = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })
    return {
      status: undefined,
      headers: {},
      next: Effect.map(Queue.take(entry.lines), (line) => Schema.decodeUnknownSync(Message)(line)),
      leave: Effect.andThen(write(cancelled), settle)
    }
  })
  return { send, open, ...behind(context) }
})
