/**
 * Processes that share a storage, which a test starts, stops, kills, freezes and cuts off, each with the whole engine.
 *
 * `TaskRunnerTest` runs over a fleet; so can any test of what becomes of tasks when processes come and go.
 *
 * @since 0.2.0
 */
import * as Embedded from "@effect-mcp-tasks/engine/Embedded"
import * as Health from "@effect-mcp-tasks/engine/Health"
import * as Replicated from "@effect-mcp-tasks/engine/Replicated"
import * as TaskClock from "@effect-mcp-tasks/engine/TaskClock"
import * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskQueue from "@effect-mcp-tasks/engine/TaskQueue"
import * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as TaskWorkers from "@effect-mcp-tasks/engine/TaskWorkers"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import * as FaultyClock from "./FaultyClock.ts"
import { Link } from "./FleetLink.ts"
import { type Script, toolsOf } from "./FleetTools.ts"

/**
 * @since 0.2.0
 */
export { Link } from "./FleetLink.ts"

/**
 * What a test can say of a process that it starts.
 *
 * @category models
 * @since 0.2.0
 */
export interface ProcessOptions extends TaskRunner.QueueOptions {
  /** How many milliseconds this machine's clock is ahead of the store's. */
  readonly ahead?: (() => number) | undefined
  /** The tools that it serves, instead of those that its script makes. */
  readonly tools?: Layer.Layer<TaskTools.TaskTools> | undefined
}

/**
 * What one process is made of.
 *
 * @category models
 * @since 0.2.0
 */
export type Engine = TaskRunner.TaskRunner | TaskEngine.TaskEngine | Health.Health

/**
 * A storage that processes share, and how a process is made over it.
 *
 * @category services
 * @since 0.2.0
 */
export class Fleet extends Context.Service<Fleet, {
  /** What was stored, for a test to look at. */
  readonly store: TaskStore.TaskStore["Service"]
  /** One more process: all that it shares with others has to go through the link. */
  readonly engine: (link: Link, options: ProcessOptions) => Layer.Layer<Engine, unknown, TaskTools.TaskTools>
}>()("@effect-mcp-tasks/testing/Fleet") {}

const gated = <I, S extends object>(key: Context.Key<I, S>, link: Link) => (service: S) =>
  Layer.succeed(key, link.gate(service))

/** Links that are cut when their scope closes: a process that outlives its test waits in silence, and takes no time. */
const makeLinks = Effect.gen(function*() {
  const links = new Set<Link>()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const link of links) link.cut()
    }))
  return links
})

/** As many signals as one layer of the engine keeps for a subscriber that does not read. */
const backlog = 16_384

/** Signals as one process hears them. When the place has gone it hears nothing more, and that is all. */
const hearing = Effect.fnUntraced(function*(signal: TaskSignal.TaskSignal["Service"], place: Scope.Scope) {
  const hub = yield* PubSub.sliding<string>(backlog)
  const arriving = yield* Scope.provide(signal.subscribe, place)
  const passing = Effect.flatMap(PubSub.takeAll(arriving), (taskIds) => PubSub.publishAll(hub, taskIds))
  yield* Effect.forkIn(Effect.forever(passing), place)
  return PubSub.subscribe(hub)
})

/**
 * One process at a time over the store that is provided, each with an engine that shares nothing but the store.
 *
 * @category layers
 * @since 0.2.0
 */
export const single = <E>(
  engine: Layer.Layer<Engine, E, TaskStore.TaskStore | TaskTools.TaskTools>
): Layer.Layer<Fleet, never, TaskStore.TaskStore> =>
  Layer.effect(
    Fleet,
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const links = yield* makeLinks
      return {
        store,
        engine: (link: Link) => {
          links.add(link)
          return Layer.provide(engine, gated(TaskStore.TaskStore, link)(store))
        }
      }
    })
  )

/**
 * One process at a time, each with its handlers as fibers.
 *
 * @category layers
 * @since 0.2.0
 */
export const embedded: Layer.Layer<Fleet, never, TaskStore.TaskStore> = single(Embedded.layer)

/**
 * What replicas share besides the store, the workers and the signal, and the time that they go by.
 *
 * @category models
 * @since 0.2.0
 */
export interface Shared {
  /** The queue by which a process takes part in the one that all share; built for each process. */
  readonly queue: Layer.Layer<TaskQueue.TaskQueue, unknown>
  /** Reads the storage's clock, in epoch milliseconds. */
  readonly time: Effect.Effect<number>
}

/**
 * Many processes at a time, which take tasks from a queue.
 *
 * @category layers
 * @since 0.2.0
 */
export const replicas = (
  { queue, time }: Shared
): Layer.Layer<Fleet, never, TaskStore.TaskStore | TaskWorkers.TaskWorkers | TaskSignal.TaskSignal> =>
  Layer.effect(
    Fleet,
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const workers = yield* TaskWorkers.TaskWorkers
      const signal = yield* TaskSignal.TaskSignal
      const place = yield* Effect.scope
      const links = yield* makeLinks
      return {
        store,
        engine: (link: Link, options: ProcessOptions) => {
          links.add(link)
          return Replicated.layerWith(options).pipe(
            Layer.provide(TaskClock.layerReading(link.through("time", time))),
            Layer.provide([
              gated(TaskStore.TaskStore, link)(store),
              gated(TaskWorkers.TaskWorkers, link)(workers),
              Layer.effect(TaskQueue.TaskQueue, Effect.map(TaskQueue.TaskQueue, link.gateQueue)).pipe(
                Layer.provide(queue)
              ),
              Layer.effect(
                TaskSignal.TaskSignal,
                Effect.map(hearing(signal, place), (subscribe) => ({
                  publish: (taskId) => link.isDeaf ? Effect.void : link.through("publish", signal.publish(taskId)),
                  subscribe
                }))
              )
            ])
          )
        }
      }
    })
  )

/**
 * One process of a fleet.
 *
 * @category models
 * @since 0.2.0
 */
export interface Process {
  readonly link: Link
  readonly engine: TaskEngine.TaskEngine["Service"]
  readonly runner: TaskRunner.TaskRunner["Service"]
  readonly tools: TaskTools.TaskTools["Service"]
  readonly health: Health.Health["Service"]
  /** Ends in good order, as a deploy does. */
  readonly stop: Effect.Effect<void>
  /** Ends as with SIGKILL: nothing of it reaches what is shared any more. */
  readonly kill: Effect.Effect<void>
}

/**
 * Starts a process, whose handlers do as a script says.
 *
 * **Gotchas**
 *
 * A process that is neither stopped nor killed is cut off from what it shares when the layer of its fleet closes.
 *
 * @category running
 * @since 0.2.0
 */
export const start = Effect.fnUntraced(function*(
  script: Partial<Script["Service"]> = {},
  options: ProcessOptions = {}
) {
  const fleet = yield* Fleet
  const clock = yield* Clock.Clock
  const link = new Link()
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    Layer.fresh(fleet.engine(link, options).pipe(Layer.provideMerge(options.tools ?? toolsOf(script)))),
    scope
  ).pipe(Effect.provideService(Clock.Clock, FaultyClock.skewed(clock, options.ahead ?? (() => 0))), Effect.orDie)
  return {
    link,
    engine: Context.get(context, TaskEngine.TaskEngine),
    runner: Context.get(context, TaskRunner.TaskRunner),
    tools: Context.get(context, TaskTools.TaskTools),
    health: Context.get(context, Health.Health),
    stop: Scope.close(scope, Exit.void),
    kill: Effect.sync(link.cut)
  } satisfies Process as Process
})
