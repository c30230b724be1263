/** Runners that are wrong in one thing each, what they are made with, and the cases of the suite that notice. */
import { Embedded, TaskEngine, TaskRunner, TaskStore, type TaskTools } from "@effect-mcp-tasks/engine"
import { Fleet } from "@effect-mcp-tasks/testing"
import { Effect, Layer } from "effect"

/** A runner that is wrong in one thing, and the cases that notice. */
export interface BrokenRunner {
  readonly name: string
  readonly fleet: Layer.Layer<Fleet.Fleet, unknown>
  readonly noticedBy: ReadonlyArray<string>
  /** By how many milliseconds time goes on whenever a case waits, where the cases do not see to it themselves. */
  readonly step?: number
}

type Engine = Parameters<typeof Fleet.single<unknown>>[0]

/** The embedded runner, over a store in memory, with something put before it or around it. */
export const single = (engine: Engine) => Layer.provide(Fleet.single(engine), TaskStore.layerMemory)

/** Calls that are changed on their way into the runner. */
export const calls = (change: (request: TaskRunner.TaskRequest) => TaskRunner.TaskRequest) =>
  single(
    Layer.effect(TaskRunner.TaskRunner, Effect.map(TaskRunner.TaskRunner, (runner) => ({
      submit: (request) => runner.submit(change(request))
    }))).pipe(Layer.provideMerge(Embedded.layer))
  )

/** Handlers that are changed before they are run. */
export const handlers = (change: (run: TaskTools.ToolCall["run"]) => TaskTools.ToolCall["run"]) =>
  calls((request) => ({ ...request, call: { ...request.call, run: change(request.call.run) } }))

/** The engine as handlers' callers see it, changed. */
export const callers = (
  change: (engine: TaskEngine.TaskEngine["Service"]) => Partial<TaskEngine.TaskEngine["Service"]>
) =>
  single(
    Layer.effect(
      TaskEngine.TaskEngine,
      Effect.map(TaskEngine.TaskEngine, (engine) => ({ ...engine, ...change(engine) }))
    ).pipe(Layer.provideMerge(Embedded.layer))
  )

/** The store as the runner sees it, changed. */
export const stores = (change: (store: TaskStore.TaskStore["Service"]) => Partial<TaskStore.TaskStore["Service"]>) =>
  single(Layer.provide(
    Embedded.layer,
    Layer.effect(TaskStore.TaskStore, Effect.map(TaskStore.TaskStore, (store) => ({ ...store, ...change(store) })))
  ))

