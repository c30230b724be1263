/**
 * What replicas share besides the store: a queue of tasks, a list of workers, and the time.
 *
 * @since 0.1.0
 */
import * as TaskWorkers from "@effect-mcp-tasks/engine/TaskWorkers"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PersistedQueue from "effect/persistence/PersistedQueue"
import { epoch, type Process } from "./Process.ts"
import type * as Remote from "./Remote.ts"
import type { World } from "./World.ts"

/** How often a worker that finds nothing looks again, in milliseconds of its clock. */
const pollMs = 1_500

/** After how long an entry is offered again whose taker died before it was done with it, in milliseconds. */
const lockMs = 3_000

interface Entry {
  readonly id: string
  readonly element: unknown
  attempts: number
  /** Who works on it, and since when; nobody before that, and again when it was given back. */
  holder: Process | undefined
  takenAtMs: number
  visibleAtMs: number
  isDone: boolean
}

/**
 * What replicas share, as one of them reaches it.
 *
 * @since 0.1.0
 */
export interface Connection {
  readonly queue: PersistedQueue.PersistedQueueStore["Service"]
  readonly workers: TaskWorkers.TaskWorkers["Service"]
  /** The time that all of them go by, in epoch milliseconds. */
  readonly time: Effect.Effect<number, string>
}

/**
 * What replicas share besides the store.
 *
 * @since 0.1.0
 */
export class Shared {
  private readonly entries = new Map<string, Entry>()
  private readonly beats = new Map<string, number>()
  private readonly world: World

  constructor(world: World) {
    this.world = world
  }

  /** What is shared, as one process reaches it. */
  connect(process: Process, call: Remote.Call): Connection {
    const remote = <A>(done: () => A) => call(Effect.sync(done), (why) => Effect.fail(why))
    return {
      time: remote(() => epoch + this.world.now),
      workers: this.workers(process, remote),
      queue: this.queue(process, (done) =>
        Effect.mapError(remote(done), (why) => new PersistedQueue.PersistedQueueError({ message: why, cause: why })))
    }
  }

  private workers(
    process: Process,
    remote: <A>(done: () => A) => Effect.Effect<A, string>
  ): TaskWorkers.TaskWorkers["Service"] {
    const { beats } = this
    const failing = (operation: "beat" | "leave" | "beats") =>
      Effect.mapError((cause: string) => new TaskWorkers.WorkersUnavailable({ operation, cause }))
    return {
      beat: (worker) =>
        failing("beat")(remote(() => {
          beats.set(worker, (beats.get(worker) ?? 0) + 1)
          process.beat()
        })),
      leave: (worker) =>
        failing("leave")(remote(() => {
          beats.delete(worker)
        })),
      beats: failing("beats")(remote(() => new Map(beats)))
    }
  }

  /** The first entry that is nobody's, or whose holder has not been heard of for as long as a lock lasts. */
  private next(process: Process): Entry | undefined {
    const { now } = this.world
    for (const entry of this.entries.values()) {
      const isHeld = entry.holder !== undefined && (entry.holder.isAlive || now < entry.takenAtMs + lockMs)
      if (entry.isDone || isHeld || entry.visibleAtMs > now) continue
      entry.holder = process
      entry.takenAtMs = now
      entry.attempts++
      return entry
    }
    return undefined
  }

  private queue(
    process: Process,
    remote: <A>(done: () => A) => Effect.Effect<A, PersistedQueue.PersistedQueueError>
  ): PersistedQueue.PersistedQueueStore["Service"] {
    return {
      cleanup: () => Effect.void,
      offer: ({ element, id }) =>
        remote(() => {
          if (this.entries.has(id)) return
          const fresh = { attempts: 0, holder: undefined, takenAtMs: 0, visibleAtMs: 0, isDone: false }
          this.entries.set(id, { id, element, ...fresh })
        }),
      take: Effect.fnUntraced(function*(this: Shared, { retryDelay }: Parameters<TakeStore>[0]) {
        while (true) {
          const entry = yield* remote(() => this.next(process))
          if (entry === undefined) {
            yield* Effect.sleep(pollMs)
            continue
          }
          yield* Effect.addFinalizer((exit) =>
            Effect.flatMap(retryDelay(entry.attempts), (delay) => {
              const isInterrupted = exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause)
              return Effect.ignore(remote(() => {
                if (entry.holder !== process) return
                entry.isDone = exit._tag === "Success"
                entry.holder = undefined
                entry.visibleAtMs = this.world.now + (isInterrupted ? 0 : Duration.toMillis(delay))
              }))
            })
          )
          return { id: entry.id, attempts: entry.attempts, element: entry.element }
        }
      }).bind(this)
    }
  }
}

type TakeStore = PersistedQueue.PersistedQueueStore["Service"]["take"]
