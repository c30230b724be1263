/**
 * Runs seeds in a thread of its own, of the system as it is or with one line of it broken.
 *
 * @since 0.1.0
 */
import { parentPort, workerData } from "node:worker_threads"
import type { Job } from "../seeds.ts"
import * as sabotage from "../sabotage.ts"

/**
 * What a thread is started with.
 *
 * @since 0.1.0
 */
export interface Order {
  readonly job: Job
  /** The name of a sabotage. */
  readonly sabotage?: string | undefined
}

const order: Order = workerData
const broken = order.sabotage === undefined ? undefined : sabotage.find(order.sabotage)
if (order.sabotage !== undefined && broken === undefined) throw new Error(`There is no sabotage "${order.sabotage}"`)
if (broken !== undefined) sabotage.commit(broken)
const seeds = await import("../seeds.ts")
parentPort?.postMessage(seeds.run(order.job), [])
