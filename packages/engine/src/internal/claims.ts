/**
 * From a task that nobody runs to its handler running here.
 *
 * A task is claimed by `Start`, in one write that names the attempt it is to follow: of any number of workers who try,
 * one succeeds, and the others see that it did. A claim that has not heard what became of its `Start` gives it again,
 * word for word, so that the machine knows it for the same one.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { TaskEngine } from "../TaskEngine.ts"
import type { TaskStore } from "../TaskStore.ts"
import type { TaskTools } from "../TaskTools.ts"
import * as doubts from "./doubts.ts"
import type { RunningTasks } from "./runningTasks.ts"
import type { Seat, Slots } from "./slots.ts"
import * as storedCall from "./storedCall.ts"
import type { Trials } from "./trials.ts"
import type { WorkerWatch } from "./workerWatch.ts"

/**
 * What claiming needs.
 *
 * @since 0.2.0
 */
export interface ClaimServices {
  readonly me: string
  readonly engine: TaskEngine["Service"]
  readonly store: TaskStore["Service"]
  readonly tools: TaskTools["Service"]
  readonly running: RunningTasks
  readonly slots: Slots
  readonly trials: Trials
  readonly watch: Pick<WorkerWatch, "isAlive" | "beatOf">
}

/** One claim, through all its tries. */
interface Claim {
  readonly taskId: string
  readonly seat: Seat
  /** The attempt that it is to follow, from its first `Start` on. */
  after: number | undefined
}

/** Makes the way in which one worker starts attempts. */
const makeStart = (services: ClaimServices, doubted: ReturnType<typeof doubts.make>) => {
  const { engine, me, store, trials, watch } = services

  const isOthers = ({ running, worker }: Task.LiveTask): boolean =>
    running && worker !== undefined && worker !== me && watch.isAlive(worker)

  const startOf = (after: number) =>
    Effect.map(engine.now, (at) => ({ _tag: "Start", at, after, worker: me }) as const)

  /**
   * Starts the next attempt, unless somebody who is alive has the task, it has ended, or it has to wait for its trial;
   * then there is none.
   */
  const start = Effect.fnUntraced(function*(claim: Claim) {
    while (true) {
      const found = yield* store.read(claim.taskId)
      if (Option.isNone(found) || Task.isTerminal(found.value.task)) return Option.none()
      const { task } = found.value
      if (isOthers(task)) return doubted.keep(task)
      const command = yield* startOf(claim.after ?? task.attempt)
      // One whose answer was lost may have been written: it is given again, however long that has taken.
      if (claim.after === undefined && !(yield* trials.admit(task, command, claim.seat))) return Option.none()
      claim.after = command.after
      const started = yield* Effect.result(engine.apply(found.value, command))
      if (Result.isSuccess(started)) {
        return Task.isTerminal(started.success.task) ? Option.none() : Option.some(started.success)
      }
      // Somebody was faster: what they did to the task is looked at next.
      if (started.failure._tag === "TaskStoreError") return yield* started.failure
      claim.after = undefined
    }
  })

  return { start, startOf }
}

/**
 * Makes what claims tasks for one worker.
 *
 * @since 0.2.0
 */
export const make = (services: ClaimServices) => {
  const { me, running, slots, tools, trials, watch } = services
  const decode = storedCall.decoder(tools)
  const claiming = new Set<string>()
  const doubted = doubts.make(watch)

  const { start, startOf } = makeStart(services, doubted)

  const isHere = (taskId: string): boolean => running.has(taskId) || claiming.has(taskId)

  /** Whether nobody who is alive sees to a live task. */
  const isUnattended = ({ running, taskId, worker }: Task.LiveTask): boolean => {
    if (!running || worker === undefined) return true
    return worker === me ? !isHere(taskId) : !watch.isAlive(worker)
  }

  const startHere = Effect.fnUntraced(function*(taskId: string, seat: Seat) {
    const started = yield* running.patiently(start({ taskId, seat, after: undefined }), () => !running.isDraining)
    if (Option.isNone(started)) return slots.release(seat)
    const call = yield* decode(started.value.task)
    if (Result.isSuccess(call)) return yield* running.run(started.value, call.success, seat)
    slots.release(seat)
    yield* running.fail(started.value, call.failure)
  })

  /**
   * Claims a task and runs it here, in a slot of its own. Interrupts itself when there is no slot, or when the store is
   * away and this process is about to end: then the task is for others.
   */
  const claim = (taskId: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (isHere(taskId)) return Effect.sync(() => trials.leave(taskId))
      const seat = running.isDraining ? undefined : slots.tryTake()
      if (seat === undefined) return Effect.interrupt
      claiming.add(taskId)
      trials.leave(taskId)
      return startHere(taskId, seat).pipe(
        Effect.onError(() => Effect.sync(() => slots.release(seat))),
        // Its entry is used up: it would come again at once, and keep the others from their turn.
        Effect.catchCauseIf(storedCall.isOfTheTask, (cause) => storedCall.leave(taskId, cause)),
        Effect.catchTag("TaskStoreError", () => Effect.interrupt),
        Effect.ensuring(Effect.sync(() => claiming.delete(taskId)))
      )
    }).pipe(Effect.uninterruptible)

  /** Has a task that nobody has wait here for its trial, if it needs one: its entry may be used up. */
  const expect = (task: Task.LiveTask): Effect.Effect<void> =>
    slots.isVacant ? Effect.map(startOf(task.attempt), (command) => trials.expect(task, command)) : Effect.void

  return { claim, expect, isUnattended, hasRoom: (): boolean => slots.isVacant, reconsider: doubted.settle(claim) }
}

/**
 * What claims tasks for one worker.
 *
 * @since 0.2.0
 */
export type Claims = ReturnType<typeof make>
