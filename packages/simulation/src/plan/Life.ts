/**
 * What becomes of one task as far as chance decides it: drawn beforehand, so that a plan, a comparison with other
 * settings, and a real run can live the same lives.
 *
 * Each life has a stream of chance of its own and always takes as much from it. So another share or distribution leaves
 * everything else of every life as it was.
 *
 * @since 0.2.0
 */
import type { Dice } from "../Dice.ts"
import * as Distribution from "./Distribution.ts"
import type { Settings } from "./Settings.ts"

/**
 * What becomes of one task. Times are milliseconds.
 *
 * @since 0.2.0
 */
export interface Life {
  readonly arrivesAtMs: number
  /** Which client process calls, counted from 0. */
  readonly client: number
  /** How long the handler works, without its waits. */
  readonly workMs: number
  /** After how much of its work the handler asks, and how long its user takes; it does not unless given. */
  readonly asks: { readonly afterMs: number; readonly answerAfterMs: number } | undefined
  readonly fails: boolean
  /** When its user gives it up, from when the client has its id. */
  readonly cancelAfterMs: number | undefined
  /** For how long its client goes away, from when it has the id. */
  readonly returnsAfterMs: number | undefined
  readonly listens: boolean
}

/**
 * Whether a client process listens. The first ones do, so that each share of clients is part of every larger one.
 *
 * @since 0.2.0
 */
export const isListening = ({ clients, listening }: Settings, client: number): boolean =>
  client < Math.round(clients * listening)

/**
 * Draws a life.
 *
 * @since 0.2.0
 */
export const draw = (settings: Settings, dice: Dice, arrivesAtMs: number): Life => {
  const unit = () => dice.unit()
  const workMs = Distribution.sample(settings.duration, unit(), unit())
  const isAsking = unit() < settings.asking
  const askAfterMs = Math.round(unit() * workMs)
  const answerAfterMs = Distribution.sample(settings.answerAfter, unit(), unit())
  const fails = unit() < settings.failing
  const isCancelled = unit() < settings.cancelled
  const cancelAfterMs = Math.round(unit() * workMs)
  const isAway = unit() < settings.away && !isCancelled
  const returnsAfterMs = Distribution.sample(settings.returnsAfter, unit(), unit())
  const client = Math.floor(unit() * settings.clients)
  return {
    arrivesAtMs,
    client,
    workMs,
    asks: isAsking ? { afterMs: askAfterMs, answerAfterMs } : undefined,
    fails,
    cancelAfterMs: isCancelled ? cancelAfterMs : undefined,
    returnsAfterMs: isAway ? returnsAfterMs : undefined,
    listens: isListening(settings, client)
  }
}

/**
 * Draws life after life, in the order of their arrival, each when it is asked for. The same settings give the same.
 *
 * @since 0.2.0
 */
export function* drawAll(settings: Settings, dice: Dice): Generator<Life> {
  const arrivals = dice.stream("arrivals")
  const meanMs = 3_600_000 / settings.tasksPerHour
  const untilMs = settings.warmUpMs + settings.countedMs
  let at = 0
  for (let index = 0; ; index++) {
    at -= meanMs * Math.log(1 - arrivals.unit())
    if (at >= untilMs) return
    yield draw(settings, dice.stream(`life ${index}`), Math.round(at))
  }
}
