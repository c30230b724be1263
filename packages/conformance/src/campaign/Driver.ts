/**
 * The clients of a campaign: they call, poll, answer and cancel, and remember what they were told.
 *
 * @since 0.2.0
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Client from "./Client.ts"
import type { Fleet } from "./Fleet.ts"
import type { Seen } from "./Verdict.ts"

interface Following extends Seen {
  answered?: string | undefined
  cancelled: boolean
  ended?: Client.View | undefined
  last?: Client.View | undefined
}

/** One in so many tasks takes its process down, one in so many is cancelled. */
const odds = { deadly: 60, cancel: 8 }

/** How many tasks are under way at a time. */
const crowd = 24

const isOver = ({ status }: Client.View): boolean => status !== "working" && status !== "input_required"

const nextTool = Effect.gen(function*() {
  if ((yield* Random.nextIntBetween(0, odds.deadly)) === 0) return "deadly"
  return ["work", "ask", "once"][yield* Random.nextIntBetween(0, 2)] ?? "work"
})

/**
 * Makes the clients of a fleet.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = Effect.fnUntraced(function*(fleet: Fleet) {
  const tasks: Array<Following> = []
  const crowded = yield* Semaphore.make(crowd)

  /** Whoever was not answered asks another replica; that a task is not there is an answer. */
  const insist = <A>(ask: (url: string) => Effect.Effect<A, Client.NoAnswer | Client.Gone>) =>
    Effect.flatMap(fleet.url, ask).pipe(
      Effect.tapError((error) => error._tag === "NoAnswer" ? Effect.sleep("100 millis") : Effect.void),
      Effect.retry({ while: (error) => error._tag === "NoAnswer" }),
      Effect.result
    )

  const answer = Effect.fnUntraced(function*(task: Following, view: Client.View) {
    const text = SecureRandom.uuidV4Unsafe()
    // The same answer until it is acknowledged: whichever of the requests is applied, this is what was said.
    const said = yield* insist((url) => Client.answer(url, view, text))
    if (Result.isSuccess(said)) task.answered ??= text
  })

  const follow = Effect.fnUntraced(function*(task: Following, patience: number) {
    if (patience === 0) {
      task.cancelled = true
      yield* insist((url) => Client.cancel(url, task.taskId))
    }
    const got = yield* insist((url) => Client.get(url, task.taskId))
    if (Result.isFailure(got)) {
      task.last = undefined
      return true
    }
    task.last = got.success
    if (isOver(got.success)) task.ended = got.success
    else if (got.success.status === "input_required") yield* answer(task, got.success)
    return isOver(got.success)
  })

  const live = Effect.fnUntraced(function*(tool: string) {
    const made = yield* Effect.result(Effect.flatMap(fleet.url, (url) => Client.create(url, tool)))
    // Without an answer there is no handle, and nobody to whom anything was promised.
    if (Result.isFailure(made)) return
    const task: Following = { taskId: made.success.taskId, tool, cancelled: false, last: made.success }
    tasks.push(task)
    let patience = (yield* Random.nextIntBetween(0, odds.cancel)) === 0 ? yield* Random.nextIntBetween(0, 5) : -1
    while (!(yield* follow(task, patience--))) yield* Effect.sleep(yield* Random.nextIntBetween(80, 250))
  })

  return {
    /** Begins a task, once there is room for one more. */
    begin: Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        yield* restore(Semaphore.take(crowded, 1))
        const life = restore(Effect.flatMap(nextTool, live))
        yield* Effect.forkScoped(Effect.ensuring(life, Semaphore.release(crowded, 1)))
      })
    ),
    /** Waits until no task is under way, for at most so many milliseconds. */
    rest: (millis: number) => Effect.timeoutOption(Semaphore.take(crowded, crowd), millis),
    /** Looks at every task once more, and gives back what is known of it. */
    look: Effect.gen(function*() {
      yield* Effect.forEach(tasks, (task) =>
        Effect.map(insist((url) => Client.get(url, task.taskId)), (got) => {
          task.last = Result.isSuccess(got) ? got.success : undefined
        }), { concurrency: 8, discard: true })
      const seen: ReadonlyArray<Seen> = tasks
      return seen
    })
  }
})
