/**
 * The runner of a replica: it takes tasks from a queue, as many at a time as it has slots.
 *
 * @since 0.2.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { Health } from "../Health.ts"
import { TaskEngine } from "../TaskEngine.ts"
import { TaskQueue } from "../TaskQueue.ts"
import type { TaskRequest } from "../TaskRunner.ts"
import type { TaskSignal } from "../TaskSignal.ts"
import { TaskStore, TaskStoreError } from "../TaskStore.ts"
import { TaskTools } from "../TaskTools.ts"
import { TaskWorkers, type WorkersUnavailable } from "../TaskWorkers.ts"
import * as boundedScope from "./boundedScope.ts"
import * as claims from "./claims.ts"
import * as loop from "./loop.ts"
import * as newTask from "./newTask.ts"
import * as recovery from "./recovery.ts"
import * as runningTasks from "./runningTasks.ts"
import { Slots } from "./slots.ts"
import * as storeTime from "./storeTime.ts"
import { Trials } from "./trials.ts"
import { WorkerWatch } from "./workerWatch.ts"

/**
 * How a replica runs tasks.
 *
 * @since 0.2.0
 */
export interface Settings {
  readonly concurrency: number
  readonly lease: Duration.Duration
  readonly heartbeat: Duration.Duration
  readonly grace: Duration.Duration
  readonly scan: Duration.Duration
}

/** How many claims are under way at the same time: more would only wait for the same store. */
const maxClaims = 4

/** How often, within a lease, a worker shows that it is alive and looks for those who do not. */
const beatsPerLease = 3

/** How long a process that goes away waits for the queue to take back what it has not begun. */
const longestGoodbye = Duration.seconds(2)

const monotonic = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** A worker's name, and which of the others are alive. */
const makeWorker = Effect.fnUntraced(function*(lease: number) {
  const workers = yield* TaskWorkers
  const me = Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(12))
  const watch = new WorkerWatch(lease)
  const beat = Effect.gen(function*() {
    yield* workers.beat(me)
    const beats = yield* workers.beats
    watch.look(beats, yield* monotonic)
  })
  yield* beat
  return { me, watch, beat, leave: workers.leave(me) }
})

interface Parts {
  readonly worker: Effect.Success<ReturnType<typeof makeWorker>>
  readonly running: runningTasks.RunningTasks
  readonly claiming: claims.Claims
  readonly scanning: recovery.Recovery
  readonly slots: Slots
  readonly trials: Trials
}

/** Shows that this worker is alive, and looks after what others leave. */
const runBackground = Effect.fnUntraced(function*({ running, scanning, worker }: Parts, lease: number) {
  let beatenAt = yield* monotonic
  const rest = Duration.millis(lease / beatsPerLease)
  // Whoever is back first after an outage of the storage gives the others a lease to count on, or, after one that was
  // shorter than half a lease, what is left: that is for one that rests, misses its count and pauses for half a rest.
  const pause = Duration.divideUnsafe(rest, 2)
  yield* loop.run({ name: "renew", rest, restsFirst: true, pause }, () =>
    Effect.gen(function*() {
      yield* worker.beat
      const now = yield* monotonic
      // Others may have believed us dead: whatever they took up is not ours any more.
      const wasAway = now - beatenAt >= lease
      beatenAt = now
      if (wasAway) yield* running.lookAtAll()
    }))
  yield* loop.run({ name: "recover", rest }, ({ begin }) => scanning.round(begin))
})

/** What interrupts itself has left the task to others. */
const leavingToOthers = Effect.catchCause((cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.failCause(cause))

/** Takes tasks from the queue while there are slots for them, and suspects from their line when it is their turn. */
const runClaims = Effect.fnUntraced(function*({ claiming, slots, trials }: Parts, count: number) {
  const queue = yield* TaskQueue
  yield* loop.run({ name: "trials" }, ({ idle }) =>
    Effect.gen(function*() {
      yield* idle(Effect.andThen(trials.turn, slots.vacant))
      // Whoever was first may have been looked at since.
      yield* leavingToOthers(claiming.claim(yield* idle(trials.turn)))
    }))
  for (let n = 1; n <= count; n++) {
    yield* loop.run({ name: `claim ${n}` }, ({ begin, idle }) =>
      Effect.andThen(
        idle(slots.vacant),
        leavingToOthers(idle(queue.take((taskId) => Effect.andThen(begin, claiming.claim(taskId)))))
      ))
  }
})

const makeParts = Effect.fnUntraced(function*(settings: Settings): Effect.fn.Return<
  Parts,
  WorkersUnavailable,
  | TaskEngine
  | TaskStore
  | TaskTools
  | TaskQueue
  | TaskWorkers
  | TaskSignal
  | SecureRandom.SecureRandom
  | Scope.Scope
> {
  const engine = yield* TaskEngine
  const store = storeTime.measured(yield* TaskStore)
  const queue = yield* TaskQueue
  const workers = yield* TaskWorkers
  const slots = new Slots(settings.concurrency)
  const lease = Duration.toMillis(settings.lease)
  const worker = yield* makeWorker(lease)
  const { me, watch } = worker
  const running = yield* runningTasks.make({
    slots,
    heartbeat: settings.heartbeat,
    onReleased: (task) =>
      Effect.catchCause(
        queue.offer({ taskId: task.taskId, attempt: task.attempt + 1 }),
        (cause) => Effect.logWarning("A task that was handed back could not be offered; a scan will find it", cause)
      )
  })
  const trials = new Trials()
  const claiming = claims.make({ me, engine, store, running, slots, trials, tools: yield* TaskTools, watch })
  const scan = Duration.toMillis(settings.scan)
  const round = lease / beatsPerLease
  const scanning = recovery.make({ me, engine, store, queue, workers, watch, claims: claiming, running, scan, round })
  return { worker, running, claiming, scanning, slots, trials }
})

/**
 * Makes the runner.
 *
 * @since 0.2.0
 */
export const make = Effect.fnUntraced(function*(settings: Settings) {
  const engine = yield* TaskEngine
  const queue = yield* TaskQueue
  const health = yield* Effect.serviceOption(Health)
  const parts = yield* makeParts(settings)
  const { running, scanning, worker } = parts
  yield* runBackground(parts, Duration.toMillis(settings.lease))
  yield* Effect.addFinalizer(() =>
    Effect.gen(function*() {
      if (Option.isSome(health)) yield* health.value.board.stop
      yield* running.drain(settings.grace)
      // Whoever is not on the list is not missed. Others take up what is left when they see its count stand still.
      if (running.holdsTasks) return
      yield* Effect.catchCause(worker.leave, (cause) =>
        Effect.logWarning("A worker could not take its leave; others will see that it is gone", cause))
    })
  )
  // Last, so that it is first to end: a process that goes away takes no more work, and goes on with everything else. A
  // queue that does not answer whoever gives an entry back does not hold that up.
  const claimsScope = yield* boundedScope.make("The queue", longestGoodbye)
  yield* Scope.provide(runClaims(parts, Math.min(settings.concurrency, maxClaims)), claimsScope)

  return {
    submit: (request: TaskRequest) =>
      queue.createWith(engine.create(newTask.from(request), { started: false })).pipe(
        Effect.tap(({ isOffered }) => Effect.sync(() => isOffered || scanning.want())),
        Effect.map(({ stored }) => stored),
        Effect.catchTag(["SqlError", "PersistedQueueError"], (cause) =>
          Effect.fail(new TaskStoreError({ operation: "create", reason: "Unavailable", cause }))),
        Effect.uninterruptible
      )
  }
})
