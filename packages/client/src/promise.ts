/**
 * The client for people without Effect: promises, `AbortSignal`, async iteration, plain errors.
 *
 * It is the same client underneath, and keeps what that one promises: a call is sent once, a question is asked once,
 * an aborted call cancels its task.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as InputHandler from "./InputHandler.ts"
import { plainError } from "./internal/plainErrors.ts"
import { type PlainStore, storeLayer } from "./internal/plainStore.ts"
import * as Client from "./TaskClient.ts"
import {
  type InputRefused,
  isTaskClientError,
  type NotOutstanding,
  type TaskClientError,
  type ToolResult
} from "./TaskClientError.ts"
import type * as Handle from "./TaskHandle.ts"

export {
  ConnectionError,
  TaskCancelledError,
  TaskError,
  TaskExpiredError,
  TaskFailedError,
  ToolFailedError
} from "./internal/plainErrors.ts"
export type { PlainStore } from "./internal/plainStore.ts"

/**
 * A JSON object.
 *
 * @category models
 * @since 0.1.0
 */
export type Json = Schema.JsonObject

/**
 * A task as it was last seen.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskState = TaskView.TaskView

/**
 * Where the server is, and how patient the client. Times are in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskClientOptions {
  readonly url: string | URL
  /** Sent with every request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Who the client says it is. */
  readonly name?: string | undefined
  readonly version?: string | undefined
  /** The function that sends requests; the platform's own. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Where open tasks are remembered, so that another process can resume them. */
  readonly store?: PlainStore | undefined
  readonly requestTimeout?: number | undefined
  /** How long failures that pass are borne; 2 minutes. */
  readonly retryFor?: number | undefined
  /** How long they are borne of a server that has never answered; 5 seconds, for a known task `retryFor`. */
  readonly firstContact?: number | undefined
  /** Whether to listen for notifications where the server has them; true. */
  readonly listen?: boolean | undefined
}

/**
 * A question, and a signal that it is withdrawn.
 *
 * @category models
 * @since 0.1.0
 */
export interface Question extends InputHandler.InputQuestion {
  readonly signal: AbortSignal
}

/**
 * How a task is observed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ObserveOptions {
  /**
   * Answers a question with the result of its method: `{ action: "accept", content: { ... } }` for a form. Without it,
   * the server is told that nobody can be asked. What it throws ends the call, and so does anything else it gives.
   */
  readonly onInput?: ((question: Question) => Json | Promise<Json>) | undefined
  /** Aborting it gives up whatever is waited for, and stops to observe the task. */
  readonly signal?: AbortSignal | undefined
}

/**
 * How a call is made.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions extends ObserveOptions {
  /** What becomes of the task when the signal is aborted before the task's end was seen; `"cancel"`. */
  readonly onAbort?: "cancel" | "leave" | undefined
  /** How long the server may take to answer the call, be it with a task, in milliseconds; 10 minutes. */
  readonly timeout?: number | undefined
}

/**
 * A tool call that has begun. Iterating over it gives the task as it changes, to its end.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskHandle extends AsyncIterable<TaskState> {
  /** The task's id; `undefined` where the server answered without a task. */
  readonly id: string | undefined
  readonly result: () => Promise<ToolResult>
  readonly answer: (key: string, response: Json) => Promise<void>
  readonly cancel: () => Promise<void>
  /** Stops observing the task, and leaves it as it is. */
  readonly leave: () => Promise<void>
}

/**
 * A client of one server.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskClient extends AsyncDisposable {
  /** Calls a tool and waits for its result. Rejects with a `TaskError`, or with the signal's reason. */
  readonly call: (tool: string, args?: Json, options?: CallOptions) => Promise<ToolResult>
  /** Calls a tool, and gives a handle as soon as the server has taken the call. */
  readonly start: (tool: string, args?: Json, options?: CallOptions) => Promise<TaskHandle>
  /** Goes on with a task that this or another process has begun. */
  readonly resume: (taskId: string, options?: ObserveOptions) => Promise<TaskHandle>
  /** The ids of the tasks that the store remembers as open. */
  readonly open: () => Promise<ReadonlyArray<string>>
  readonly tools: () => Promise<ReadonlyArray<Json>>
  readonly discover: () => Promise<Client.ServerDescription>
  /** Looks at a task once. */
  readonly get: (taskId: string) => Promise<TaskState>
  readonly cancel: (taskId: string) => Promise<void>
  /** Aborts the calls that wait, and leaves the tasks of handles as they are. */
  readonly close: () => Promise<void>
}

/** What an input handler of the caller's own threw, on its way back to them. */
class Thrown {
  readonly _tag = "Thrown"
  readonly reason: unknown
  constructor(reason: unknown) {
    this.reason = reason
  }
}

type Failure = TaskClientError | NotOutstanding | Thrown

const actions: ReadonlySet<unknown> = new Set(["accept", "decline", "cancel"])

/** An answer that is none is a mistake of the caller's, and must not go to the server as one. */
const checked = (response: Json | undefined): Json => {
  if (JsonRpc.isJsonObject(response) && actions.has(response["action"])) return response
  throw new TypeError(
    "onInput has to give { action: \"accept\", content: { ... } }, { action: \"decline\" } or { action: \"cancel\" }"
  )
}

const handlerOf = (onInput: ObserveOptions["onInput"]): InputHandler.InputHandler<Thrown | InputRefused> =>
  onInput === undefined ? InputHandler.none : InputHandler.make<Thrown>({
    elicit: (_, question) =>
      Effect.tryPromise({
        try: async (signal) => checked(await onInput({ ...question, signal })),
        catch: (reason) => new Thrown(reason)
      })
  })

const reasonOf = (cause: Cause.Cause<Failure>, signal: AbortSignal | undefined): unknown => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof Thrown) return error.reason
  if (isTaskClientError(error)) return plainError(error)
  if (error !== undefined) return new Error(error.message, { cause: error })
  return signal?.aborted === true && Cause.hasInterruptsOnly(cause) ? signal.reason : Cause.squash(cause)
}

/** How long a task that is given up may take to be cancelled; what it waits for is bounded alike in a call. */
const cancelGrace = "3 seconds"

type Runtime = ManagedRuntime.ManagedRuntime<Client.TaskClient, never>

type Run = <A>(
  effect: (client: Client.TaskClient["Service"]) => Effect.Effect<A, Failure>,
  signal?: AbortSignal
) => Promise<A>

/** Runs effects as promises that end when the client is closed. */
const runWith = (
  runtime: Runtime,
  running: Set<Promise<unknown>>,
  closing: AbortSignal
): Run =>
async (effect, given) => {
  const signal = given === undefined ? closing : AbortSignal.any([given, closing])
  // A fiber would be interrupted only once it has begun, and by then the call is on its way.
  signal.throwIfAborted()
  const promise = runtime.runPromiseExit(Effect.flatMap(Client.TaskClient, effect), { signal })
  running.add(promise)
  const exit = await promise.finally(() => running.delete(promise))
  if (Exit.isSuccess(exit)) return exit.value
  throw reasonOf(exit.cause, signal)
}

/** Dies with the signal's reason, once it is aborted. */
const aborted = (signal: AbortSignal): Effect.Effect<never> =>
  Effect.callback((resume) => {
    const abort = () => resume(Effect.die(signal.reason))
    if (signal.aborted) abort()
    else signal.addEventListener("abort", abort, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })

type Started = Handle.TaskHandle<ToolResult, Thrown | InputRefused>

/** What a handle needs of its client. */
interface Own {
  readonly run: Run
  readonly scope: Scope.Closeable
  readonly signal: AbortSignal | undefined
  /** Gives a task up that its caller does not want any more; waited for when the client is closed. */
  readonly giveUp: (started: Started, scope: Scope.Closeable) => void
}

const handle = (started: Started, { giveUp, run, scope, signal }: Own): TaskHandle => {
  const { answer, await: result, cancel, changes, id } = started
  // From the signal to the end of the task or of the interest in it, whatever the caller waits for meanwhile.
  const abort = () => giveUp(started, scope)
  const settle = () => signal?.removeEventListener("abort", abort)
  if (signal?.aborted === true) abort()
  else signal?.addEventListener("abort", abort, { once: true })
  return {
    id: Option.getOrUndefined(id),
    result: () =>
      run(() =>
        Effect.onExit(result, (exit) => {
          if (signal?.aborted !== true) settle()
          return Scope.close(scope, exit)
        }), signal),
    answer: (key, response) => run(() => answer(key, response)),
    cancel: () => run(() => cancel),
    leave: () => {
      settle()
      return run(() => Scope.close(scope, Exit.void))
    },
    [Symbol.asyncIterator]() {
      const plain = changes.pipe(
        Stream.tap((view) => Effect.sync(() => TaskView.isTerminal(view) && settle())),
        Stream.catchCause((cause) => Stream.die(reasonOf(cause, signal)))
      )
      const states = signal === undefined ? plain : Stream.interruptWhen(plain, aborted(signal))
      return Stream.toAsyncIterable(states)[Symbol.asyncIterator]()
    }
  }
}

/** The layers of the options. */
const layerOf = (options: TaskClientOptions): Layer.Layer<Client.TaskClient> => {
  const { fetch, firstContact, headers, listen, name, requestTimeout, retryFor, store, url, version } = options
  const http = fetch === undefined
    ? FetchHttpClient.layer
    : Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch))
  return Client.layerHttp({
    name: name ?? "effect-mcp-tasks",
    version: version ?? "0",
    url,
    headers,
    listen,
    requestTimeout,
    retryFor,
    firstContact
  }).pipe(Layer.provide(http), Layer.provide(store === undefined ? Layer.empty : storeLayer(store)))
}

/**
 * Makes a client. Nothing is sent before it is used. Throws a `TypeError` where `url` is not the address of a server.
 *
 * **Example** (Calling a long tool)
 *
 * ```ts
 * const client = createTaskClient({ url: "http://127.0.0.1:3334/mcp" })
 * const { content } = await client.call("export_report", { rows: 42 }, {
 *   onInput: async () => ({ action: "accept", content: { overwrite: true } }),
 *   signal: AbortSignal.timeout(60_000)
 * })
 * await client.close()
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const createTaskClient = (options: TaskClientOptions): TaskClient => {
  const { protocol } = new URL(options.url)
  if (!/^https?:$/.test(protocol)) throw new TypeError(`The url of a server begins with http, not with ${protocol}`)
  const runtime = ManagedRuntime.make(layerOf(options))
  const root = Scope.makeUnsafe()
  const running = new Set<Promise<unknown>>()
  const closing = new AbortController()
  const run = runWith(runtime, running, closing.signal)
  type Begin = (client: Client.TaskClient["Service"]) => Effect.Effect<Started, Failure, Scope.Scope>
  const giveUp = (onAbort: CallOptions["onAbort"]): Own["giveUp"] => (started, scope) => {
    if (closing.signal.aborted) return
    const isLeft = onAbort === "leave" || Option.isNone(started.id)
    const cancelled = isLeft ? Effect.void : started.cancel.pipe(
      Effect.timeout(cancelGrace),
      Effect.catch((error) => Effect.logWarning(`A task could not be cancelled: ${error.message}`))
    )
    const promise = runtime.runPromiseExit(Effect.andThen(cancelled, Scope.close(scope, Exit.void)))
    running.add(promise)
    void promise.finally(() => running.delete(promise))
  }
  const begun = (begin: Begin, { onAbort, signal }: Pick<CallOptions, "onAbort" | "signal">) =>
    run((client) =>
      Effect.flatMap(Scope.fork(root), (scope) =>
        begin(client).pipe(
          Scope.provide(scope),
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
          Effect.map((started) => handle(started, { run, scope, signal, giveUp: giveUp(onAbort) }))
        )), signal)
  const optionsOf = ({ onAbort, onInput, timeout }: CallOptions) => ({
    onInput: handlerOf(onInput),
    onInterrupt: onAbort,
    timeout
  })
  let closed: Promise<void> | undefined
  const close = async () => closed ??= end()
  const end = async () => {
    closing.abort(new Error("The client is closed"))
    await Promise.allSettled(running)
    await runtime.runPromise(Scope.close(root, Exit.void))
    await runtime.dispose()
  }
  return {
    call: (tool, args = {}, given = {}) => run((client) => client.call(tool, args, optionsOf(given)), given.signal),
    start: (tool, args = {}, given = {}) => begun((client) => client.start(tool, args, optionsOf(given)), given),
    resume: (taskId, given = {}) =>
      begun((client) => client.resume(taskId, { onInput: handlerOf(given.onInput) }), {
        signal: given.signal,
        onAbort: "leave"
      }),
    open: () => run(({ open }) => open),
    tools: () => run(({ tools }) => tools),
    discover: () => run(({ discover }) => discover),
    get: (taskId) => run(({ get }) => get(taskId)),
    cancel: (taskId) => run(({ cancel }) => cancel(taskId)),
    close,
    [Symbol.asyncDispose]: close
  }
}
