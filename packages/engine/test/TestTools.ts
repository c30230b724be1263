/** One process over the store of a test, and the kit's shorthand for what its tools do. */
import { Embedded, TaskEngine, TaskRunner, TaskStore, TaskTools } from "@effect-mcp-tasks/engine"
import { Context, Effect, Layer, Scope } from "effect"

export { settle } from "@effect-mcp-tasks/testing/FleetTime"
export { call, get, owner, Script, toolsOf } from "@effect-mcp-tasks/testing/FleetTools"
import { type Script, toolsOf } from "@effect-mcp-tasks/testing/FleetTools"

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
