/** Tools, processes and shorthand that the engine's tests share. */
import {
  Embedded,
  TaskEngine,
  TaskOwner,
  TaskRunner,
  TaskStore,
  TaskTool,
  TaskTools
} from "@effect-mcp-tasks/engine"
import { Context, Effect, Layer, Option, Result, Schema, Scope } from "effect"
import { Tool, Toolkit } from "effect/ai"

/** What the handlers of a test do; each test brings its own. */
export class Script extends Context.Service<Script, {
  readonly resumable: (text: string) => Effect.Effect<unknown, string>
  readonly once: (text: string) => Effect.Effect<unknown, string>
}>()("@effect-mcp-tasks/engine/test/TestTools/Script") {}

const parameters = Schema.Struct({ text: Schema.optionalKey(Schema.String) })
const policy = { ttl: "1 minute", resultTtl: "10 seconds" } as const

const Resumable = Tool.make("resumable", { parameters, success: Schema.Unknown, failure: Schema.String })
  .annotate(TaskTool.Policy, { ...policy, recovery: "resume", maxLostAttempts: 2 })

const Once = Tool.make("once", { parameters, success: Schema.Unknown, failure: Schema.String })
  .annotate(TaskTool.Policy, policy)

const Plain = Tool.make("plain", { parameters, success: Schema.String })

const Kit = Toolkit.make(Resumable, Once, Plain)

const KitLive = Kit.toLayer(Effect.map(Script, (script) => ({
  resumable: ({ text }: typeof parameters.Type) => script.resumable(text ?? ""),
  once: ({ text }: typeof parameters.Type) => script.once(text ?? ""),
  plain: ({ text }: typeof parameters.Type) => Effect.succeed(text ?? "")
})))

/** The tools of a test: `resumable` may be run again, `once` may not. */
export const toolsOf = (script: Partial<Script["Service"]>): Layer.Layer<TaskTools.TaskTools> =>
  TaskTools.layer(Kit).pipe(
    Layer.provide(KitLive),
    Layer.provide(Layer.succeed(Script, {
      resumable: () => Effect.succeed("done"),
      once: () => Effect.succeed("done"),
      ...script
    }))
  )

/** One process over a store that outlives it. */
export interface Process {
  readonly engine: TaskEngine.TaskEngine["Service"]
  readonly runner: TaskRunner.TaskRunner["Service"]
  readonly tools: TaskTools.TaskTools["Service"]
  /** Ends in good order, as a deploy does. */
  readonly stop: Effect.Effect<void>
  /** Ends as with SIGKILL: nothing of it reaches the store any more. */
  readonly kill: Effect.Effect<void>
}

/** Starts a process over the store of the test. */
export const start = Effect.fnUntraced(function*(script: Partial<Script["Service"]> = {}) {
  const store = yield* TaskStore.TaskStore
  let isDead = false
  const gate = <A, E>(effect: Effect.Effect<A, E>) => Effect.suspend(() => isDead ? Effect.never : effect)
  const gated = TaskStore.TaskStore.of({
    create: (task, options) => gate(store.create(task, options)),
    read: (taskId) => gate(store.read(taskId)),
    view: (taskId) => gate(store.view(taskId)),
    replace: (stored, next) => gate(store.replace(stored, next)),
    due: (now, limit) => gate(store.due(now, limit)),
    remove: (taskId, version) => gate(store.remove(taskId, version)),
    countLive: (owner) => gate(store.countLive(owner)),
    list: (options) => gate(store.list(options))
  })
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    Layer.fresh(Embedded.layer.pipe(
      Layer.provideMerge(toolsOf(script)),
      Layer.provide(Layer.succeed(TaskStore.TaskStore, gated))
    )),
    scope
  )
  return {
    engine: Context.get(context, TaskEngine.TaskEngine),
    runner: Context.get(context, TaskRunner.TaskRunner),
    tools: Context.get(context, TaskTools.TaskTools),
    stop: Effect.suspend(() => Scope.close(scope, Effect.runSync(Effect.exit(Effect.void)))),
    kill: Effect.sync(() => {
      isDead = true
    })
  } satisfies Process as Process
})

/** The owner of every task that `call` makes. */
export const owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" })

/** Calls a tool as a task, for a client that can be asked. */
export const call = Effect.fnUntraced(function*(
  process: Pick<Process, "tools" | "runner">,
  name: "resumable" | "once",
  text = "",
  capabilities: Schema.JsonObject = { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
) {
  const tool = Option.getOrThrow(process.tools.get(name))
  const decoded = Result.getOrThrow(yield* tool.call({ text }))
  const stored = yield* process.runner.submit({
    owner,
    tool,
    call: decoded,
    arguments: { text },
    capabilities,
    traceparent: undefined
  })
  return stored.task.taskId
})

/** What a poll shows, as far as tests look at it. */
export interface Polled {
  readonly status: string
  readonly statusMessage: string
  readonly inputRequests: Record<string, {
    readonly params: { readonly requestedSchema: { readonly properties: Record<string, { readonly type: string }> } }
  }>
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly result: {
    readonly resultType?: string
    readonly content: readonly [{ readonly type?: string; readonly text: string }]
    readonly structuredContent?: unknown
    readonly isError?: boolean
  }
}

/** The task as its owner polls it: the object of `tasks/get` without its `resultType`. */
export const get = Effect.fnUntraced(function*(process: Pick<Process, "engine">, taskId: string) {
  const view = yield* process.engine.view(owner, taskId)
  const head = JSON.parse(view.head) as Polled
  return view.result === null ? head : { ...head, result: JSON.parse(view.result) as Polled["result"] }
})

/** Lets every fiber that can go on do so. */
export const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })
