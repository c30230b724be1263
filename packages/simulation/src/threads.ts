/**
 * Runs seeds in threads.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Worker } from "node:worker_threads"
import * as seeds from "./seeds.ts"
import type { Order } from "./bin/worker.ts"

/**
 * A thread broke: the simulation itself is wrong, or the system is so broken that it cannot be loaded.
 *
 * @since 0.1.0
 */
export class ThreadFailed extends Schema.TaggedError<ThreadFailed>()("ThreadFailed", { cause: Schema.Defect() }) {}

/**
 * Runs seeds in a thread of their own. Interrupting it ends the thread.
 *
 * @since 0.1.0
 */
export const run = (order: Order): Effect.Effect<seeds.Report, ThreadFailed> =>
  Effect.callback((resume) => {
    const worker = new Worker(new URL("bin/worker.ts", import.meta.url), { workerData: order })
    worker.on("message", (report: seeds.Report) => resume(Effect.succeed(report)))
    worker.on("error", (cause) => resume(Effect.fail(new ThreadFailed({ cause }))))
    return Effect.promise(() => worker.terminate())
  })

/**
 * Shares seeds between so many threads, and adds up what they report.
 *
 * @since 0.1.0
 */
export const share = (
  job: Omit<seeds.Job, "stride">,
  { sabotage, threads }: { readonly threads: number; readonly sabotage?: string | undefined }
): Effect.Effect<seeds.Report, ThreadFailed> =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: Math.min(threads, job.count) }, (_, index) => index),
      (index) => run({ sabotage, job: { ...job, from: job.from + index, count: job.count - index, stride: threads } }),
      { concurrency: "unbounded" }
    ),
    seeds.sum
  )
