/**
 * Two tools whose handlers do as a test says, one that may be run again and one that may not, and how a test calls them
 * and looks at what comes of it.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import type * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import type * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * What the handlers of a test do; each test brings its own.
 *
 * @category services
 * @since 0.2.0
 */
export class Script extends Context.Service<Script, {
  /** May be run again after a crash, twice at most. */
  readonly resumable: (text: string) => Effect.Effect<unknown, string>
  /** Must not be run twice. */
  readonly once: (text: string) => Effect.Effect<unknown, string>
}>()("@effect-mcp-tasks/testing/FleetTools/Script") {}

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

/**
 * The tools of a test, `resumable` and `once`, which live for a minute; and `plain`, which is never a task.
 *
 * @category layers
 * @since 0.2.0
 */
export const toolsOf = (script: Partial<Script["Service"]>): Layer.Layer<TaskTools.TaskTools> =>
  TaskTools.layer(Kit).pipe(
    Layer.provide(KitLive),
    Layer.provide(Layer.succeed(Script, {
      resumable: () => Effect.succeed("done"),
      once: () => Effect.succeed("done"),
      ...script
    }))
  )

/**
 * A form that a handler puts before its user.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const confirm = { message: "Overwrite?", schema: Schema.Struct({ overwrite: Schema.Boolean }) }

/**
 * A handler that asks, and says in which attempt it heard what.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const asking = (_text: string) =>
  Effect.gen(function*() {
    const task = yield* CurrentTask.CurrentTask
    const answer = yield* Effect.orDie(task.elicit("confirm", confirm))
    return `attempt ${task.attempt}: ${JSON.stringify(answer)}`
  })

/**
 * The answer that `asking` hopes for.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const accept = { confirm: { action: "accept", content: { overwrite: true } } }

/**
 * The owner of every task that `call` makes.
 *
 * @category fixtures
 * @since 0.2.0
 */
export const owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" })

/**
 * Who takes a call, and sees to its task.
 *
 * @category models
 * @since 0.2.0
 */
export interface Taking {
  readonly tools: TaskTools.TaskTools["Service"]
  readonly runner: TaskRunner.TaskRunner["Service"]
}

/**
 * What a test can say of a call: whose it is, what its client declared, and what it brings along.
 *
 * @category models
 * @since 0.2.0
 */
export interface CallOptions extends Partial<Pick<TaskRunner.TaskRequest, "owner" | "capabilities" | "journal">> {
  readonly text?: string | undefined
  /** The arguments in full, for a tool that takes others than `text`. */
  readonly arguments?: Schema.JsonObject | undefined
  readonly traceparent?: string | undefined
}

/**
 * Calls a tool as a task; for `owner`, and for a client that can be asked, unless it is said otherwise.
 *
 * @category running
 * @since 0.2.0
 */
export const submit = Effect.fnUntraced(function*(
  { runner, tools }: Taking,
  name: string,
  { text = "", traceparent, arguments: args = { text }, ...options }: CallOptions
) {
  const tool = Option.getOrThrow(tools.get(name))
  const stored = yield* runner.submit({
    owner,
    tool,
    call: Result.getOrThrow(yield* tool.call(args)),
    arguments: args,
    capabilities: { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    traceparent,
    ...options
  })
  return stored.task.taskId
})

/**
 * Calls a tool as a task of `owner`, for a client that can be asked unless its capabilities are given.
 *
 * @category running
 * @since 0.2.0
 */
export const call = (
  process: Taking,
  name: "resumable" | "once",
  text = "",
  capabilities?: Schema.JsonObject
): ReturnType<typeof submit> =>
  submit(process, name, capabilities === undefined ? { text } : { text, capabilities })

/**
 * What a poll shows, as far as tests look at it.
 *
 * @category models
 * @since 0.2.0
 */
export interface Polled {
  readonly status: string
  readonly statusMessage: string
  readonly ttlMs: number
  readonly pollIntervalMs: number
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

/**
 * The task as its owner polls it: the object of `tasks/get` without its `resultType`.
 *
 * @category running
 * @since 0.2.0
 */
export const get = Effect.fnUntraced(function*(
  process: { readonly engine: TaskEngine.TaskEngine["Service"] },
  taskId: string
) {
  const view = yield* process.engine.view(owner, taskId)
  const head = JSON.parse(view.head) as Polled
  return view.result === null ? head : { ...head, result: JSON.parse(view.result) as Polled["result"] }
})
