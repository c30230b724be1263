/** Subscriptions as a test reads them: over the in-memory transport, message by message. */
import { McpProtocol } from "@effect-mcp-tasks/core"
import {
  CurrentTask, Health, TaskEngine, TaskOwner, TaskRunner, TaskSignal, TaskStore, TaskSweeper
} from "@effect-mcp-tasks/engine"
import { Dispatcher, InMemoryTransport } from "@effect-mcp-tasks/server"
import { type Cause, Context, Effect, Exit, Fiber, Layer, Option, PubSub, Schema, Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { ada, dispatcher, message, type Options, type Script, type Sender, settle } from "./TestServer.ts"

/** A message as it came, taken apart as far as tests look at it. */
export const Message = Schema.fromJsonString(Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Schema.Json),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
}))

export const readMessage = Schema.decodeUnknownSync(Message)

/** A stream that a test reads from as it pleases. */
export interface Reading {
  /** The next message; fails the test when there is none before time runs out. */
  readonly next: Effect.Effect<typeof Message.Type>
  /** What can be read without waiting. */
  readonly rest: Effect.Effect<ReadonlyArray<typeof Message.Type>>
  readonly hasEnded: Effect.Effect<boolean>
  /** Goes away, as a client does that closes its stream. */
  readonly leave: Effect.Effect<void>
}

/** Starts a server, with the services behind it and the transport in front. */
export const start = Effect.fnUntraced(function*(options: Options = {}, within: Layer.Layer<never> = Layer.empty) {
  const layer = InMemoryTransport.layer.pipe(Layer.provideMerge(dispatcher(options)), Layer.provide(within))
  const context = yield* Layer.build(Layer.fresh(layer))
  const transport = Context.get(context, InMemoryTransport.InMemoryTransport)

  const open = Effect.fnUntraced(function*(
    method: string,
    params: Schema.JsonObject,
    sender: Sender & { readonly owner?: TaskOwner.TaskOwner } = {}
  ) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const answer = yield* transport.send(undefined, message(method, params, sender)).pipe(
      Effect.provideService(TaskOwner.CurrentOwner, sender.owner ?? ada),
      Effect.provideService(Scope.Scope, scope),
      Effect.provideContext(context)
    )
    return { answer, leave: Effect.andThen(Scope.close(scope, Exit.void), settle) }
  })

  /** Sends a request whose answer is one reply. */
  const ask = Effect.fnUntraced(function*(
    method: string,
    params: Schema.JsonObject = {},
    sender: Sender & { readonly owner?: TaskOwner.TaskOwner } = {}
  ) {
    const { answer } = yield* open(method, params, sender)
    yield* settle
    return "messages" in answer
      ? yield* Effect.die(new Error("The answer is a stream"))
      : { ...answer, message: readMessage(answer.body) }
  })

  /** Sends a request whose answer is a stream; nothing is read that the test does not ask for. */
  const stream = Effect.fnUntraced(function*(
    method: string,
    params: Schema.JsonObject,
    sender: Sender & { readonly owner?: TaskOwner.TaskOwner } = {}
  ) {
    const { answer, leave } = yield* open(method, params, sender)
    if (!("messages" in answer)) return yield* Effect.die(new Error(`The answer is no stream: ${answer.body}`))
    const scope = yield* Effect.scope
    const pull = yield* Stream.toPull(answer.messages)
    const pending: Array<string> = []
    const fill = Effect.suspend(() =>
      pending.length > 0 ? Effect.void : Effect.map(pull, (texts) => pending.push(...texts)))
    const read = Effect.map(fill, () => readMessage(pending.shift()))
    let reading: Fiber.Fiber<typeof Message.Type, Cause.Done> | undefined
    let isOver = false
    // One read at a time, which is never given up: what it takes is not lost.
    const attempt = Effect.suspend(() => reading === undefined ? Effect.forkIn(read, scope) : Effect.succeed(reading))
    const taken = (fiber: Fiber.Fiber<typeof Message.Type, Cause.Done>) => {
      reading = undefined
      return Fiber.join(fiber)
    }
    return {
      next: Effect.flatMap(attempt, taken).pipe(Effect.timeout("1 minute"), Effect.orDie),
      rest: Effect.gen(function*() {
        const messages: Array<typeof Message.Type> = []
        while (!isOver) {
          reading = yield* attempt
          yield* settle
          if (reading.pollUnsafe() === undefined) return messages
          const next = yield* Effect.option(taken(reading))
          if (Option.isSome(next)) messages.push(next.value)
          else isOver = true
        }
        return messages
      }),
      hasEnded: Effect.sync(() => isOver),
      leave
    } satisfies Reading as Reading
  })
  return {
    ask,
    stream,
    listen: (taskIds: ReadonlyArray<string>, sender: Sender & { readonly owner?: TaskOwner.TaskOwner } = {}) =>
      stream("subscriptions/listen", { notifications: { taskIds } }, sender),
    endSubscriptions: Context.get(context, Dispatcher.Dispatcher).endSubscriptions,
    store: Context.get(context, TaskStore.TaskStore)
  }
})

export type Server = Effect.Success<ReturnType<typeof start>>

export const bob = TaskOwner.principal({ issuer: "https://issuer.example", subject: "bob" })

export const subscriptionId = McpProtocol.MetaKey.subscriptionId

export const create = Effect.fnUntraced(function*(
  server: Pick<Server, "ask">,
  text: string,
  owner: TaskOwner.TaskOwner = ada
) {
  const { message } = yield* server.ask("tools/call", { name: "job", arguments: { text } }, { owner })
  return String(message.result?.["taskId"])
})

export const acknowledgement = (notifications: Schema.JsonObject, id: Schema.Json = 1): typeof Message.Type => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { _meta: { [subscriptionId]: id }, notifications }
})

/** What every result says of the server. */
export const identity = { [McpProtocol.MetaKey.serverInfo]: { name: "test", title: "Test", version: "0" } }

export const graceful = (id: Schema.Json = 1): typeof Message.Type => ({
  jsonrpc: "2.0",
  id,
  result: { resultType: "complete", _meta: { ...identity, [subscriptionId]: id } }
})

export const statuses = (messages: ReadonlyArray<typeof Message.Type>) =>
  messages.map(({ method, params, result }) => method === "notifications/tasks" ? params?.["status"] : result ?? method)

/** Says each second which second it is. */
export const reportingForever: Script = Effect.fnUntraced(function*() {
  const { report } = yield* CurrentTask.CurrentTask
  for (let second = 1; ; second++) {
    yield* Effect.sleep("1 second")
    yield* report(`second ${second}`)
  }
})

/** A signal that the test holds: it can be shared, lost and doubled. */
export const hub = Effect.gen(function*() {
  const pubsub = yield* PubSub.unbounded<string>()
  let isLost = false
  const publish = (taskId: string) => Effect.asVoid(PubSub.publish(pubsub, taskId))
  return {
    publish,
    lose: Effect.sync(() => {
      isLost = true
    }),
    layer: Layer.succeed(TaskSignal.TaskSignal, {
      publish: (taskId) => Effect.suspend(() => isLost ? Effect.void : publish(taskId)),
      subscribe: PubSub.subscribe(pubsub)
    })
  }
})

export const engineWith = (signal: Layer.Layer<TaskSignal.TaskSignal>): NonNullable<Options["engine"]> =>
  Layer.merge(TaskRunner.layerFiber, TaskSweeper.layer).pipe(
    Layer.provideMerge(TaskEngine.layer),
    Layer.provideMerge(Health.layer),
    Layer.provide([signal, SecureRandom.layerWebCrypto])
  )
