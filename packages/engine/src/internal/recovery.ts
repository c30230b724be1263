/**
 * Sees to it that every live task has somebody who is responsible: what a dead worker had, what was never offered, and
 * what the queue has lost.
 *
 * @since 0.2.0
 */
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as Effect from "effect/Effect"
import type { TaskEngine } from "../TaskEngine.ts"
import type { TaskQueue } from "../TaskQueue.ts"
import type { TaskStore } from "../TaskStore.ts"
import type { TaskWorkers } from "../TaskWorkers.ts"
import type { Claims } from "./claims.ts"
import type { RunningTasks } from "./runningTasks.ts"
import type { WorkerWatch } from "./workerWatch.ts"

/**
 * What recovery needs. Times are in milliseconds.
 *
 * @since 0.2.0
 */
export interface RecoveryServices {
  readonly me: string
  readonly engine: TaskEngine["Service"]
  readonly store: TaskStore["Service"]
  readonly queue: TaskQueue["Service"]
  readonly workers: TaskWorkers["Service"]
  readonly watch: WorkerWatch
  readonly claims: Claims
  readonly running: RunningTasks
  /** How often all live tasks are looked through, by one worker or another. */
  readonly scan: number
  /** How often the dead are looked for. */
  readonly round: number
}

const pageSize = 100

/** Makes what tells the log of the dead, of each once; whoever finds them says so. */
const makeMourn = () => {
  let mourned: ReadonlyArray<string> = []
  /** How many tasks they had is how many nobody had taken up by then. */
  return Effect.fnUntraced(function*(dead: ReadonlyArray<string>, had: ReadonlyMap<string, number>) {
    const news = dead.filter((worker) => !mourned.includes(worker))
    mourned = dead
    yield* Effect.forEach(news, (worker) =>
      Effect.annotateLogs(Effect.logWarning("A worker is dead; its tasks are offered to others"), {
        worker,
        tasks: had.get(worker) ?? 0
      }), { discard: true })
  })
}

/**
 * Makes the round in which a worker looks for work that nobody does.
 *
 * **Details**
 *
 * Workers take turns, by the time that they share: what needs to be done once is mostly done by one, and a worker that
 * cannot do it leaves it to the next. That two do it at once is harmless.
 *
 * @since 0.2.0
 */
export const make = (services: RecoveryServices) => {
  const { claims, engine, me, queue, round, running, scan, store, watch, workers } = services
  /** Which round of scanning was the last one here. */
  let scanned: number | undefined
  /** What nobody had in the last scan, under which version. */
  let unattended = new Map<string, number>()
  let isWanted = true
  const mourn = makeMourn()
  const want = (): void => {
    isWanted = true
  }

  const isMyTurn = (turn: number): boolean => {
    const { alive } = watch
    return alive.length === 0 || alive[turn % alive.length] === me
  }

  /**
   * A task that nobody has is offered. One that nobody had a whole scan ago, and whose entry nobody took since though
   * there is a slot for it here, has lost its entry: it is claimed without one. A suspect waits here at once:
   * a worker that died may have used its entry up, and let it wait for its trial.
   */
  const settle = ({ task, version }: Task.Stored<Task.LiveTask>) =>
    unattended.get(task.taskId) === version && !running.isDraining
      ? Effect.ignoreCause(claims.claim(task.taskId))
      : Effect.andThen(queue.offer({ taskId: task.taskId, attempt: task.attempt + 1 }), claims.expect(task))

  const scanAll = Effect.fnUntraced(function*(goesOn: Effect.Effect<void>) {
    const found = new Map<string, number>()
    const had = new Map<string, number>()
    let page: ReadonlyArray<Task.Stored> = []
    do {
      yield* goesOn
      page = yield* store.list({ live: true, limit: pageSize, after: page.at(-1)?.task.taskId })
      for (const stored of page) {
        if (!isLive(stored) || !claims.isUnattended(stored.task)) continue
        found.set(stored.task.taskId, stored.version)
        countIn(had, stored.task)
        yield* settle(stored)
      }
    } while (page.length === pageSize)
    unattended = found
    return had
  })

  return {
    /** Has the next round look through all tasks, whosever turn it is. */
    want,
    /** One round; it says with every page of tasks that it goes on. */
    round: Effect.fnUntraced(function*(goesOn: Effect.Effect<void>) {
      yield* claims.reconsider
      const now = yield* engine.now
      const turn = Math.floor(now / scan)
      const { dead } = watch
      // An entry may have been taken by a worker that did not know yet that the holder is dead, and is gone then: who
      // found the task looks after it.
      const isConcerned = unattended.size > 0 && claims.hasRoom()
      const isScanDue = scanned !== turn && (isMyTurn(turn) || isConcerned)
      if (!isWanted && !isScanDue && !(dead.length > 0 && isMyTurn(Math.floor(now / round)))) return
      isWanted = false
      const had = yield* Effect.onError(scanAll(goesOn), () => Effect.sync(want))
      scanned = turn
      yield* mourn(dead, had)
      // Whatever they had is offered now. One that was believed dead counts on, and is on the list again.
      yield* Effect.forEach(dead, workers.leave, { discard: true })
    })
  }
}

/**
 * What looks for work that nobody does.
 *
 * @since 0.2.0
 */
export type Recovery = ReturnType<typeof make>

const isLive = (stored: Task.Stored): stored is Task.Stored<Task.LiveTask> =>
  stored.task.status === "working" || stored.task.status === "input_required"

const countIn = (had: Map<string, number>, { running, worker }: Task.LiveTask): void => {
  if (running && worker !== undefined) had.set(worker, (had.get(worker) ?? 0) + 1)
}
