/** A server whose tools ask, each in a way of its own, and calls of them round by round. */
import { CurrentTask, Embedded, TaskOwner, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher, type RequestState } from "@effect-mcp-tasks/server"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Ref, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ada, message, read, tasks } from "./TestServer.ts"

const parameters = Schema.Struct({ text: Schema.optionalKey(Schema.String), n: Schema.optionalKey(Schema.Int) })
const failure = Schema.Union([CurrentTask.InputUnavailable, Schema.String])
const make = <const Name extends string>(name: Name) =>
  Tool.make(name, { parameters, success: Schema.Unknown, failure })

const Plain = make("plain")
const First = make("first").annotate(TaskTool.Policy, { ttl: "1 minute" })
const Resumable = make("resumable").annotate(TaskTool.Policy, { ttl: "1 minute", recovery: "resume" })
const Once = make("once").annotate(TaskTool.Policy, { ttl: "1 minute", recovery: "fail" })

const Kit = Toolkit.make(Plain, First, Resumable, Once)

type Ended = Effect.Effect<unknown, CurrentTask.InputUnavailable | string>

/** What a handler does with its task. */
export type Body = (task: CurrentTask.TaskHandle) => Ended

/** What the tools do; each test brings its own. `first` asks by `askFirst`, and then works. */
export interface Script {
  readonly body?: Body
  readonly ask?: Body
  readonly work?: (answer: unknown, task: CurrentTask.TaskHandle) => Ended
}

/** What besides the tools differs from the usual server. */
export interface Options {
  readonly state?: Layer.Layer<never, RequestState.InvalidStateKey>
  readonly logs?: Array<string>
}

/** The name of the person that most tools ask for. */
export const name = { message: "Which name?", schema: Schema.Struct({ name: Schema.String }) }

/** An accepted form. */
export const accept = (content: Schema.JsonObject) => ({ action: "accept", content })

const task = CurrentTask.CurrentTask

/** What a call is answered with, as far as tests look at it. */
export interface Answer {
  readonly httpStatus: number
  readonly result: Schema.JsonObject
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined
  readonly state: string
  readonly keys: ReadonlyArray<string>
  readonly text: string
}

interface Sender {
  readonly capabilities?: Schema.JsonObject
  readonly owner?: TaskOwner.TaskOwner
}

const Result = Schema.Struct({
  requestState: Schema.optionalKey(Schema.String),
  inputRequests: Schema.optionalKey(Schema.JsonObject),
  content: Schema.optionalKey(Schema.Array(Schema.Struct({ text: Schema.String })))
})

const readResult = Schema.decodeUnknownSync(Result)

/** Starts the server for as long as the test. */
export const start = Effect.fnUntraced(function*(script: Script, options: Options = {}) {
  const body: Body = script.body ?? ((task) => task.elicit("name", name))
  const handler = () => Effect.flatMap(task, body)
  const handlers = Kit.toLayer({
    plain: handler,
    resumable: handler,
    once: handler,
    first: TaskTool.askFirst(
      () => Effect.flatMap(task, script.ask ?? ((task) => task.elicit("name", name))),
      (_, answer) =>
        Effect.flatMap(task, (task): Ended => (script.work ?? ((answer) => Effect.succeed(answer)))(answer, task))
    )
  })
  const log = Logger.make(({ message }) => {
    options.logs?.push(String(message))
  })
  const context = yield* Layer.build(Layer.fresh(
    Dispatcher.layer({ name: "test", version: "0" }).pipe(
      Layer.provideMerge(Embedded.layer),
      Layer.provide(TaskTools.layer(Kit)),
      Layer.provide(handlers),
      Layer.provideMerge(TaskStore.layerMemory),
      Layer.provide(options.state ?? Layer.empty),
      Layer.provideMerge(Logger.layer([log]))
    )
  ))
  const { handle } = Context.get(context, Dispatcher.Dispatcher)
  const send = (method: string, params: Schema.JsonObject, sender: Sender = {}) =>
    handle({ headers: undefined, body: message(method, params, { capabilities: sender.capabilities ?? tasks }) }).pipe(
      Effect.flatMap(Dispatcher.finalReply),
      Effect.provideService(TaskOwner.CurrentOwner, sender.owner ?? ada),
      Effect.provideContext(context)
    )
  const ask = Effect.fnUntraced(function*(method: string, params: Schema.JsonObject, sender?: Sender) {
    const { body, httpStatus } = yield* send(method, params, sender)
    const { error, result = {} } = read(body)
    const { content, inputRequests = {}, requestState = "" } = readResult(result)
    const answer: Answer = {
      httpStatus,
      result,
      error,
      state: requestState,
      keys: Object.keys(inputRequests),
      text: content?.map(({ text }) => text).join("\n") ?? ""
    }
    return answer
  })
  return {
    ask,
    /** Calls a tool; `params` may bring answers, a state, and other arguments. */
    call: (tool: string, params: Schema.JsonObject = {}, sender?: Sender) =>
      ask("tools/call", { name: tool, arguments: {}, ...params }, sender),
    taskCount: Effect.map(Context.get(context, TaskStore.TaskStore).list({ limit: 100 }), (all) => all.length)
  }
})

/** The server of a test. */
export type Server = Effect.Success<ReturnType<typeof start>>

/** Expects that a call wants answers under these keys, and gives back the answer. */
export const wants = Effect.fnUntraced(function*<E, R>(
  call: Effect.Effect<Answer, E, R>,
  ...keys: ReadonlyArray<string>
) {
  const answer = yield* call
  assert.strictEqual(answer.error, undefined)
  assert.strictEqual(answer.result["resultType"], "input_required", JSON.stringify(answer.result))
  assert.deepStrictEqual(answer.keys, keys)
  return answer
})

/** Expects an error, and gives back its message. */
export const refuses = Effect.fnUntraced(function*<E, R>(
  call: Effect.Effect<Answer, E, R>,
  code: number,
  status = 200
) {
  const { error, httpStatus } = yield* call
  assert.deepStrictEqual([error?.code, httpStatus], [code, status], error?.message)
  return error?.message ?? ""
})

/** Counts how often something is done. */
export const counter = Effect.map(Ref.make(0), (count) => ({
  tick: Ref.updateAndGet(count, (n) => n + 1),
  count: Ref.get(count)
}))
