/**
 * A plan: settings in, what to expect out. Pure, and the same for the same settings.
 *
 * Every task that arrives in the counted time is followed to its end and until its client has come for the result, also
 * past that time; rates and levels are those of the counted time alone.
 *
 * @since 0.2.0
 */
import { Dice } from "../Dice.ts"
import { Agenda } from "./Agenda.ts"
import { Ledger, type Span } from "./Ledger.ts"
import * as Life from "./Life.ts"
import { type ClientProcess, type Ending, PlannedClient } from "./PlannedClient.ts"
import { type ExpiredIn, PlannedServer } from "./PlannedServer.ts"
import type { Settings } from "./Settings.ts"

/**
 * What became of the tasks that arrived in the counted time.
 *
 * **Details**
 *
 * `expired` tasks ran out of their ttl before they had ended, by what they did then; `forgotten` ones had ended, and
 * were removed before their client came back. Together they are what the ttl has lost. `cancelled` ones were given up
 * by their user.
 *
 * @since 0.2.0
 */
export interface Fates {
  tasks: number
  completed: number
  failed: number
  cancelled: number
  forgotten: number
  readonly expired: Record<ExpiredIn, number>
}

/**
 * What to expect.
 *
 * @since 0.2.0
 */
export interface Plan {
  readonly settings: Settings
  readonly ledger: Ledger
  readonly fates: Fates
  /** From the creation of a task to its end, on average; milliseconds. */
  readonly lifeMs: number
  /** From the creation of a task to its first start; milliseconds. */
  readonly queueMs: { readonly mean: number; readonly max: number }
}

/** Into how many parts the time is divided for what is shown over time. */
const parts = 240

/**
 * The time that a plan covers.
 *
 * @since 0.2.0
 */
export const spanOf = ({ countedMs, warmUpMs }: Settings): Span => ({
  fromMs: warmUpMs,
  untilMs: warmUpMs + countedMs,
  parts
})

/**
 * Lives that are given, one after the other in the order of their arrival, and the luck of their clients' waits.
 *
 * @since 0.2.0
 */
export interface Cast {
  readonly lives: Iterable<Life.Life>
  /** Numbers from 0 to 1 for the client of one life, counted from 0. */
  readonly jitterOf: (index: number) => () => number
}

const drawn = (settings: Settings): Cast => {
  const dice = new Dice(settings.seed).stream("plan")
  return {
    lives: Life.drawAll(settings, dice),
    jitterOf: (index) => {
      const jitter = dice.stream(`jitter ${index}`)
      return () => jitter.unit()
    }
  }
}

/** Keeps count of what becomes of the tasks that count. */
const tally = ({ fromMs }: Span) => {
  const fates: Fates = {
    tasks: 0,
    completed: 0,
    failed: 0,
    cancelled: 0,
    forgotten: 0,
    expired: { queued: 0, working: 0, parked: 0 }
  }
  const times = { lives: 0, lifeMs: 0, starts: 0, queueMs: 0, longestMs: 0 }
  const counts = (life: Life.Life) => life.arrivesAtMs >= fromMs
  const expired = new Set<Life.Life>()
  return {
    fates,
    times,
    arrived: (life: Life.Life) => {
      if (counts(life)) fates.tasks++
    },
    started: (life: Life.Life, afterMs: number) => {
      if (!counts(life)) return
      times.starts++
      times.queueMs += afterMs
      times.longestMs = Math.max(times.longestMs, afterMs)
    },
    ended: (life: Life.Life, afterMs: number) => {
      if (!counts(life)) return
      times.lives++
      times.lifeMs += afterMs
    },
    expired: (life: Life.Life, phase: ExpiredIn) => {
      if (!counts(life)) return
      fates.expired[phase]++
      expired.add(life)
    },
    concluded: (life: Life.Life, ending: Ending) => {
      // What has expired is counted as that, however its client learns of it.
      if (!counts(life) || expired.delete(life)) return
      if (ending === "gone") fates.forgotten++
      else if (ending !== "given up") fates[ending]++
    }
  }
}

/**
 * Makes a plan for lives that are given.
 *
 * @since 0.2.0
 */
export const runWith = (settings: Settings, cast: Cast): Plan => {
  const span = spanOf(settings)
  const agenda = new Agenda()
  const ledger = new Ledger(span)
  const { arrived, concluded, fates, times, ...events } = tally(span)
  const server = new PlannedServer({ agenda, ledger }, settings, events)
  const processes: ReadonlyArray<ClientProcess> = Array.from({ length: settings.clients }, () => ({
    toolsUntil: 0,
    discoveredUntil: 0
  }))
  let index = 0
  for (const life of cast.lives) {
    agenda.run(life.arrivesAtMs)
    arrived(life)
    new PlannedClient(life, {
      agenda,
      ledger,
      server,
      process: processes[life.client] ?? { toolsUntil: 0, discoveredUntil: 0 },
      roundTripMs: settings.roundTripMs,
      jitter: cast.jitterOf(index++),
      onEnd: (ending) => concluded(life, ending)
    }).call()
  }
  agenda.run()
  return {
    settings,
    ledger,
    fates,
    lifeMs: times.lives === 0 ? 0 : times.lifeMs / times.lives,
    queueMs: { mean: times.starts === 0 ? 0 : times.queueMs / times.starts, max: times.longestMs }
  }
}

/**
 * Makes a plan.
 *
 * @since 0.2.0
 */
export const run = (settings: Settings): Plan => runWith(settings, drawn(settings))

/**
 * The lives that `run` draws for these settings: for a real run that is to live the same.
 *
 * @since 0.2.0
 */
export const livesOf = (settings: Settings): Iterable<Life.Life> => drawn(settings).lives

/**
 * How many results the ttl has lost: tasks that ran out of it, and results that nobody came for in time.
 *
 * @since 0.2.0
 */
export const lost = ({ expired, forgotten }: Fates): number =>
  expired.parked + expired.queued + expired.working + forgotten
