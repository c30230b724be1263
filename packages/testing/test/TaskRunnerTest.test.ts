/** That the suite for runners fails what is wrong. What is right passes it in the engine's own tests. */
import type { Task } from "@effect-mcp-tasks/core"
import {
  Embedded,
  TaskEngine,
  TaskOwner,
  TaskQueue,
  TaskRunner,
  TaskSignal,
  TaskStore,
  TaskWorkers
} from "@effect-mcp-tasks/engine"
import { Fleet } from "@effect-mcp-tasks/testing"
import { owner } from "@effect-mcp-tasks/testing/FleetTools"
import * as TaskRunnerTest from "@effect-mcp-tasks/testing/TaskRunnerTest"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Option } from "effect"
import { PersistedQueue } from "effect/persistence"
import * as BrokenCalls from "./BrokenCalls.ts"
import * as BrokenPatience from "./BrokenPatience.ts"
import { type BrokenRunner, callers, handlers, single, stores } from "./BrokenRunners.ts"
import * as Trial from "./Trial.ts"

const withoutSteps = (stored: Task.Stored): Task.Stored => ({ ...stored, task: { ...stored.task, steps: [] } })

const embedded: ReadonlyArray<BrokenRunner> = [
  {
    name: "no handler is run",
    fleet: single(
      Layer.effect(TaskRunner.TaskRunner, Effect.map(TaskEngine.TaskEngine, (engine) => ({
        submit: ({ arguments: args, capabilities, owner, tool }) => {
          const settings = Option.getOrThrow(tool.settings)
          return engine.create({
            owner: TaskOwner.key(owner),
            tool: tool.name,
            arguments: args,
            capabilities,
            policy: settings.policy,
            ttlMs: settings.ttlMs,
            pollIntervalMs: settings.pollIntervalMs
          }, { started: true })
        }
      }))).pipe(Layer.provideMerge(Embedded.layer))
    ),
    noticedBy: ["answers at once with a working task, and completes it"]
  },
  {
    name: "the caller waits for the handler",
    fleet: single(
      Layer.effect(TaskRunner.TaskRunner, Effect.gen(function*() {
        const runner = yield* TaskRunner.TaskRunner
        const engine = yield* TaskEngine.TaskEngine
        return {
          submit: (request) =>
            Effect.tap(runner.submit(request), ({ task }) =>
              Effect.exit(engine.awaitEnd(task.taskId, Duration.hours(1))))
        } satisfies TaskRunner.TaskRunner["Service"]
      })).pipe(Layer.provideMerge(Embedded.layer))
    ),
    noticedBy: ["answers at once with a working task, and completes it"],
    step: 1_000
  },
  {
    name: "each handler is run twice",
    fleet: handlers((run) => Effect.andThen(run, run)),
    noticedBy: ["runs a handler once for each call, with the arguments of that call"]
  },
  {
    name: "an error that the tool declared is an error of the protocol",
    fleet: handlers(Effect.map((outcome) =>
      outcome._tag === "Result" && outcome.isError
        ? { _tag: "Error", error: { code: -32603, message: "It failed" } }
        : outcome
    )),
    noticedBy: ["completes with isError when the tool fails as it declared [E11]"]
  },
  {
    name: "a cancel is acknowledged and nothing more",
    fleet: callers(() => ({ cancel: () => Effect.void })),
    noticedBy: [
      "a cancel interrupts a running handler, whose finalizers run, and the task ends cancelled",
      "a cancel ends a parked task at once, and interrupts its handler"
    ]
  },
  {
    name: "answers are lost",
    fleet: callers(() => ({ answer: () => Effect.void })),
    noticedBy: [
      "asks, takes the answer, and goes on",
      "refuses an answer that does not fit, and keeps the question [F10]"
    ]
  },
  {
    name: "what an earlier process left is not taken up",
    fleet: stores(() => ({ list: () => Effect.succeed([]) })),
    noticedBy: [
      "after a kill, a parked resumable task keeps its question and its steps, and goes on",
      "after a kill, a task that must not be run twice has failed"
    ]
  },
  {
    name: "every tool is run again, whether it may or not",
    fleet: stores((store) => ({
      create: (task, options) => store.create({ ...task, policy: { ...task.policy, recovery: "resume" } }, options)
    })),
    noticedBy: ["after a kill, a task that must not be run twice has failed"]
  },
  {
    name: "no tool is run again",
    fleet: stores((store) => ({
      create: (task, options) => store.create({ ...task, policy: { ...task.policy, recovery: "fail" } }, options)
    })),
    noticedBy: [
      "after a kill, a parked resumable task keeps its question and its steps, and goes on",
      "a stop is never a cancel, and stops in good order cost no attempt"
    ]
  },
  {
    name: "the steps that were done are forgotten",
    fleet: stores((store) => ({
      read: (taskId) => Effect.map(store.read(taskId), Option.map(withoutSteps)),
      list: (options) => Effect.map(store.list(options), (page) => page.map(withoutSteps))
    })),
    noticedBy: ["after a kill, a parked resumable task keeps its question and its steps, and goes on"]
  },
  {
    name: "a shutdown cancels what runs",
    fleet: single(
      Layer.effectDiscard(Effect.gen(function*() {
        const engine = yield* TaskEngine.TaskEngine
        const store = yield* TaskStore.TaskStore
        yield* Effect.addFinalizer(() =>
          Effect.orDie(Effect.flatMap(store.list({ live: true, limit: 100 }), (all) =>
            Effect.forEach(all, ({ task }) => engine.cancel(owner, task.taskId), { discard: true }))))
      })).pipe(Layer.provideMerge(Embedded.layer))
    ),
    noticedBy: [
      "a stop is never a cancel, and stops in good order cost no attempt",
      "after a stop, a parked resumable task keeps its question and its steps, and goes on"
    ]
  },
  {
    name: "nothing is due, ever",
    fleet: stores(() => ({ due: () => Effect.succeed([]) })),
    noticedBy: ["expires a live task, interrupts its handler, and forgets it in the end"]
  },
  {
    name: "one process lives at a time where several should",
    fleet: Layer.provide(Fleet.embedded, TaskStore.layerMemory),
    noticedBy: ["one replica takes the call, another one runs it, a third shows it"]
  }
]

/** What replicas share in memory, with parts of it changed. */
const replicas = (
  changed: {
    readonly store?: (store: TaskStore.TaskStore["Service"]) => Partial<TaskStore.TaskStore["Service"]>
    readonly workers?: (workers: TaskWorkers.TaskWorkers["Service"]) => Partial<TaskWorkers.TaskWorkers["Service"]>
    readonly signal?: Layer.Layer<TaskSignal.TaskSignal>
    readonly queue?: (queue: TaskQueue.TaskQueue["Service"]) => Partial<TaskQueue.TaskQueue["Service"]>
  }
) =>
  Layer.unwrap(Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const entries = yield* PersistedQueue.PersistedQueueStore
    const queue = Layer.effect(
      TaskQueue.TaskQueue,
      Effect.map(TaskQueue.TaskQueue, (queue) => ({ ...queue, ...changed.queue?.(queue) }))
    ).pipe(
      Layer.provide(TaskQueue.layerStore),
      Layer.provide(Layer.succeed(PersistedQueue.PersistedQueueStore, entries))
    )
    return Fleet.replicas({ queue, time: Effect.sync(() => clock.currentTimeMillisUnsafe()) })
  })).pipe(
    Layer.provide([
      Layer.provide(
        Layer.effect(
          TaskStore.TaskStore,
          Effect.map(TaskStore.TaskStore, (store) => ({ ...store, ...changed.store?.(store) }))
        ),
        TaskStore.layerMemory
      ),
      Layer.provide(
        Layer.effect(
          TaskWorkers.TaskWorkers,
          Effect.map(TaskWorkers.TaskWorkers, (workers) => ({ ...workers, ...changed.workers?.(workers) }))
        ),
        TaskWorkers.layerMemory
      ),
      changed.signal ?? TaskSignal.layerMemory,
      PersistedQueue.layerStoreMemory
    ])
  )

const replicated: ReadonlyArray<BrokenRunner> = [
  {
    name: "a dead worker seems alive",
    fleet: replicas({
      workers: (workers) => {
        let beat = 1_000_000
        return {
          beats: Effect.map(workers.beats, (beats) => {
            beat += 1
            return new Map([...beats.keys()].map((worker) => [worker, beat]))
          })
        }
      }
    }),
    noticedBy: ["what a dead worker had goes on elsewhere, with the steps that it had finished"]
  },
  {
    name: "all workers seem dead",
    fleet: replicas({ workers: () => ({ beats: Effect.succeed(new Map<string, number>()) }) }),
    noticedBy: ["replicas whose clocks are five minutes apart expire a task at its time, and keep their leases"]
  },
  {
    name: "signals do not go between processes",
    fleet: replicas({
      signal: Layer.effect(
        TaskSignal.TaskSignal,
        Effect.map(TaskSignal.TaskSignal, (signal) => ({ ...signal, publish: () => Effect.void }))
      ).pipe(Layer.provide(TaskSignal.layerMemory))
    }),
    noticedBy: ["an answer and a cancel given to one replica reach the handler on another"]
  },
  {
    name: "what nobody sees to is not looked for",
    fleet: replicas({ store: () => ({ list: () => Effect.succeed([]) }) }),
    noticedBy: [
      "a task that was created and never offered is found, and run",
      "a task whose entry went down with the process that took it is run all the same"
    ]
  },
  {
    name: "what was written and not signalled is not noticed",
    fleet: Layer.effect(
      Fleet.Fleet,
      Effect.map(Fleet.Fleet, ({ engine, store }) => ({
        store,
        engine: (link, options) => engine(link, { ...options, heartbeat: "1 hour" })
      }))
    ).pipe(Layer.provide(replicas({}))),
    noticedBy: ["an answer and a cancel that were written are heeded though nobody hears of them"]
  }
]

describe("the suite for runners", () => {
  const broken = [...BrokenCalls.all, ...BrokenPatience.all, ...embedded, ...replicated]
  for (const { fleet, name, noticedBy, step = 0 } of broken) {
    it.effect(`notices that ${name}`, () =>
      Effect.gen(function*() {
        const cases = Trial.named(TaskRunnerTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, { fleet, time: "test" }, step), noticedBy)
      }))
  }
})
