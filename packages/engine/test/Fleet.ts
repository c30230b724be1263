/** Processes that share a store, which a test starts, stops, kills, freezes and cuts off. */
import {
  Embedded,
  Health,
  Replicated,
  TaskClock,
  TaskEngine,
  TaskQueue,
  TaskRunner,
  TaskSignal,
  TaskStore,
  TaskTools,
  TaskWorkers
} from "@effect-mcp-tasks/engine"
import { Clock, Context, Effect, Exit, Latch, Layer, Option, Scope } from "effect"
import { PersistedQueue } from "effect/persistence"
import { type Script, toolsOf } from "./TestTools.ts"

const failure = (operation: string, reason: TaskStore.TaskStoreError["reason"]): unknown => {
  const cause = new Error(`${operation} was cut off`)
  if (["beat", "beats", "leave"].includes(operation)) {
    return new TaskWorkers.WorkersUnavailable({ operation: "beat", cause })
  }
  if (["offer", "take", "createWith"].includes(operation)) {
    return new PersistedQueue.PersistedQueueError({ message: "The queue was cut off", cause })
  }
  return new TaskStore.TaskStoreError({ operation: "read", reason, cause })
}

/** What a test may do to one process: each operation on what is shared goes through here. */
export class Link {
  private readonly isUp = Latch.makeUnsafe(true)
  private readonly isDown = Latch.makeUnsafe(false)
  /** Whether the signals that others sent are lost on the way. */
  isDeaf = false
  /** What becomes of an operation, by its name; tests replace it. */
  disturb: <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = (
    _operation,
    effect
  ) => effect

  /** From now on nothing reaches the shared services, and no answer comes back. */
  readonly cut = (): void => {
    this.isUp.closeUnsafe()
    this.isDown.openUnsafe()
  }

  /** Fails as an operation does while the storage is away, or for another reason of its own. */
  readonly fail = <E>(
    operation: string,
    reason: TaskStore.TaskStoreError["reason"] = "Unavailable"
  ): Effect.Effect<never, E> => Effect.fail(failure(operation, reason) as E)

  readonly mend = (): void => {
    this.isDown.closeUnsafe()
    this.isUp.openUnsafe()
  }

  get isCut(): boolean {
    return !this.isUp.isOpen()
  }

  readonly whenDown: Effect.Effect<void> = Effect.suspend(() => this.isDown.await)

  readonly through = <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const disturbed = Effect.suspend(() => this.disturb(operation, effect))
    return Effect.andThen(this.isUp.await, Effect.onExit(disturbed, () => this.isUp.await))
  }

  /** A service whose every operation goes through the link. */
  readonly gate = <S extends object>(service: S): S =>
    Object.fromEntries(
      Object.entries(service).map(([name, member]) => [
        name,
        typeof member === "function"
          ? (...args: ReadonlyArray<unknown>) => this.through(name, member(...args))
          : Effect.isEffect(member) ? this.through(name, member) : member
      ])
    ) as S

  /** A queue of which a process that is down takes nothing. */
  readonly gateQueue = (queue: TaskQueue.TaskQueue["Service"]): TaskQueue.TaskQueue["Service"] => ({
    ...this.gate(queue),
    take: <A, E, R>(use: (taskId: string) => Effect.Effect<A, E, R>) => {
      const once = Effect.raceFirst(Effect.asSome(queue.take(use)), Effect.as(this.whenDown, Option.none<A>()))
      return Effect.gen({ self: this }, function*() {
        while (true) {
          const taken = yield* this.through("take", once)
          if (Option.isSome(taken)) return taken.value
        }
      })
    }
  })
}

/** What a test can say of a process that it starts. */
export interface ProcessOptions extends TaskRunner.QueueOptions {
  /** How many milliseconds this machine's clock is ahead of the store's. */
  readonly ahead?: (() => number) | undefined
  readonly tools?: Layer.Layer<TaskTools.TaskTools> | undefined
}

type Engine = TaskRunner.TaskRunner | TaskEngine.TaskEngine | Health.Health

/** A storage that processes share, and how a process is made over it. */
export class Fleet extends Context.Service<Fleet, {
  readonly store: TaskStore.TaskStore["Service"]
  readonly engine: (link: Link, options: ProcessOptions) => Layer.Layer<Engine, unknown, TaskTools.TaskTools>
}>()("@effect-mcp-tasks/engine/test/Fleet") {}

const gated = <I, S extends object>(key: Context.Key<I, S>, link: Link) => (service: S) =>
  Layer.succeed(key, link.gate(service))

/** One process at a time, each with its handlers as fibers. */
export const embedded: Layer.Layer<Fleet, never, TaskStore.TaskStore> = Layer.effect(
  Fleet,
  Effect.map(TaskStore.TaskStore, (store) => ({
    store,
    engine: (link: Link) => Layer.provide(Embedded.layer, gated(TaskStore.TaskStore, link)(store))
  }))
)

/** What replicas share besides the store, and the time that they go by. */
export interface Shared {
  readonly queue: Layer.Layer<TaskQueue.TaskQueue, unknown>
  readonly time: Effect.Effect<number>
}

/** Many processes at a time, which take tasks from a queue. */
export const replicas = (
  { queue, time }: Shared
): Layer.Layer<Fleet, never, TaskStore.TaskStore | TaskWorkers.TaskWorkers | TaskSignal.TaskSignal> =>
  Layer.effect(
    Fleet,
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const workers = yield* TaskWorkers.TaskWorkers
      const signal = yield* TaskSignal.TaskSignal
      return {
        store,
        engine: (link: Link, options: ProcessOptions) =>
          Replicated.layerWith(options).pipe(
            Layer.provide(TaskClock.layerReading(link.through("time", time))),
            Layer.provide([
              gated(TaskStore.TaskStore, link)(store),
              gated(TaskWorkers.TaskWorkers, link)(workers),
              Layer.effect(TaskQueue.TaskQueue, Effect.map(TaskQueue.TaskQueue, link.gateQueue)).pipe(
                Layer.provide(queue)
              ),
              Layer.succeed(TaskSignal.TaskSignal, {
                publish: (taskId) => link.isDeaf ? Effect.void : link.through("publish", signal.publish(taskId)),
                subscribe: signal.subscribe
              })
            ])
          )
      }
    })
  )

/** One process of a fleet. */
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

/** A machine whose clock shows another time. Its monotonic clock and its timers are right. */
export const ahead = (clock: Clock.Clock, by: () => number): Clock.Clock => ({
  ...clock,
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + by(),
  currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + by()),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(by()) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe() + BigInt(by()) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/** Starts a process. */
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
  ).pipe(Effect.provideService(Clock.Clock, ahead(clock, options.ahead ?? (() => 0))), Effect.orDie)
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
