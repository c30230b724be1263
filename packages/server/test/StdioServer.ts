/** A server on standard streams that the test holds, and handlers that wait until the test lets them end. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { Dispatcher, StdioTransport } from "@effect-mcp-tasks/server"
import { assert } from "@effect/vitest"
import { type Cause, Context, Deferred, Effect, Layer, type PlatformError, Queue, Sink, Stdio, Stream } from "effect"
import { type Message, readMessage } from "./TestListener.ts"
import { dispatcher, message, type Options, type Script, settle } from "./TestServer.ts"

const utf8 = new TextEncoder()

/** Starts a server on streams of the test. */
export const start = Effect.fnUntraced(function*(stdio: StdioTransport.StdioOptions = {}, options: Options = {}) {
  const context = yield* Layer.build(Layer.fresh(dispatcher(options)))
  const input = yield* Queue.unbounded<Uint8Array, Cause.Done>()
  const written: Array<string> = []
  let read = 0
  const stdout = (): Sink.Sink<void, string | Uint8Array, never, PlatformError.PlatformError> =>
    Sink.forEach((chunk) => Effect.sync(() => written.push(String(chunk))))
  const serving = yield* StdioTransport.serve(stdio).pipe(
    Effect.provideService(TaskOwner.CurrentOwner, TaskOwner.anonymous),
    Effect.provide(Stdio.layerTest({ stdin: Stream.fromQueue(input), stdout })),
    Effect.provideContext(context),
    Effect.forkChild
  )
  const send = (bytes: string | Uint8Array) =>
    Effect.andThen(Queue.offer(input, typeof bytes === "string" ? utf8.encode(bytes) : bytes), settle)
  return {
    serving,
    /** Sends bytes as they are. */
    send,
    /** Sends a request as one line. */
    request: (id: string | number, method: string, params = {}, capabilities?: {}) =>
      send(`${message(method, params, { id, ...(capabilities === undefined ? {} : { capabilities }) })}\n`),
    notify: (method: string, params: {}) => send(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`),
    close: Effect.andThen(Queue.end(input), settle),
    /** What has been written since the last time; every chunk is one message on one line. */
    written: Effect.sync((): ReadonlyArray<typeof Message.Type> => {
      const news = written.slice(read)
      read = written.length
      for (const line of news) assert.match(line, /^[^\n\r]+\n$/)
      return news.map((line) => readMessage(line))
    }),
    endSubscriptions: Context.get(context, Dispatcher.Dispatcher).endSubscriptions
  }
})

/** A tool that ends when the test says so. */
export const waiting = Effect.sync(() => {
  const stopped: Array<string> = []
  const gates = new Map<string, Deferred.Deferred<void>>()
  const script: Script = (text) =>
    Effect.suspend(() => {
      const gate = Deferred.makeUnsafe<void>()
      gates.set(text, gate)
      return Effect.as(Deferred.await(gate), text)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => stopped.push(text))))
  const finish = (text: string) =>
    Effect.andThen(
      Effect.suspend(() => Deferred.succeed(gates.get(text) ?? Deferred.makeUnsafe<void>(), undefined)),
      settle
    )
  return { script, stopped, finish }
})
