/**
 * A process of the simulated world: fibers that run on a scheduler, a clock and chance of their own, and die together.
 *
 * A crash may come between any two turns. What a dead process had still to do is never done, and nobody is told: no
 * finalizer runs, as with SIGKILL.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import type { Dice } from "./Dice.ts"
import type { World } from "./World.ts"

/**
 * How a process differs from others.
 *
 * @since 0.1.0
 */
export interface ProcessOptions {
  readonly name: string
  readonly dice: Dice
  /** How many milliseconds its clock is ahead at the beginning of the world. */
  readonly aheadMs: number
  /** How many milliseconds its clock counts in one; 1 is right. */
  readonly pace: number
  /** By how many milliseconds it may be wrong when it goes by the time of the world; by its own clock unless given. */
  readonly followsMs?: number | undefined
  /** After how many operations a fiber is cut at the latest, so that others come between. */
  readonly maxTurn: number
  /** Hears of what is logged at the level of errors, and of its cause, where it has one. */
  readonly onError: (text: string, cause: Cause.Cause<unknown>) => void
  /** What else its fibers find. */
  readonly services: Context.Context<never>
}

/**
 * When the world began, in epoch milliseconds.
 *
 * @since 0.1.0
 */
export const epoch = 1_800_000_000_000

/** How long it is between two beats at the most, in milliseconds. */
const steadyMs = 3_000

const nanosPerMilli = 1_000_000n

/**
 * A process of the simulated world.
 *
 * @since 0.1.0
 */
export class Process {
  readonly name: string
  readonly world: World
  readonly dice: Dice
  isAlive = true
  /** When it was told to go away, in milliseconds of the world. */
  leavesAtMs: number | undefined
  /** When it last showed to others that it is alive, where workers do that; and since when it has done so steadily. */
  beats: { readonly sinceMs: number; readonly lastMs: number } | undefined
  private readonly mourners = new Set<() => void>()
  private shown = 0
  private jumpedAtMs = Number.NEGATIVE_INFINITY
  private readonly followsMs: number | undefined
  private aheadMs: number
  private readonly pace: number
  private readonly turns: Array<() => void> = []
  private taken = 0
  private isWaiting = false
  private readonly context: Context.Context<never>

  constructor(world: World, options: ProcessOptions) {
    this.world = world
    this.name = options.name
    this.dice = options.dice
    this.aheadMs = options.aheadMs
    this.pace = options.pace
    this.followsMs = options.followsMs
    const logger = Logger.make(({ cause, logLevel, message }) => {
      if (logLevel === "Error" || logLevel === "Fatal") options.onError(String(message), cause)
    })
    this.context = Context.make(Scheduler.Scheduler, this.scheduler(options.maxTurn)).pipe(
      Context.add(Clock.Clock, this.clock()),
      Context.add(Random.Random, {
        nextIntUnsafe: () => this.dice.between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
        nextDoubleUnsafe: () => this.dice.unit()
      }),
      Context.add(References.TracerEnabled, false),
      Context.add(Logger.CurrentLoggers, new Set([logger])),
      Context.merge(options.services)
    )
  }

  /** What its clock shows, in epoch milliseconds. */
  get time(): number {
    const shown = Math.floor(epoch + this.aheadMs + this.world.now * this.pace)
    this.shown = Math.max(this.shown, shown)
    return shown
  }

  /** The latest that it may take the time to be, in epoch milliseconds. */
  get latest(): number {
    return this.followsMs === undefined ? this.shown : epoch + this.world.now + this.followsMs
  }

  /** The earliest that it may have taken the time to be since a moment of the world, in epoch milliseconds. */
  earliest(sinceMs: number): number {
    if (this.followsMs !== undefined) return epoch + sinceMs - this.followsMs
    return this.jumpedAtMs < sinceMs ? Math.floor(epoch + this.aheadMs + sinceMs * this.pace) : Number.NEGATIVE_INFINITY
  }

  /** Sets its clock forward by so many milliseconds, or back where it is negative. */
  jump(byMs: number): void {
    this.jumpedAtMs = this.world.now
    this.aheadMs += byMs
  }

  /** Begins to run an effect, and says how it ended unless the process is dead by then. Gives back how to stop it. */
  run<A, E>(effect: Effect.Effect<A, E>, onExit: (exit: Exit.Exit<A, E>) => void = () => undefined): () => void {
    let fiber: Fiber.Fiber<A, E> | undefined
    this.enqueue(() => {
      fiber = Effect.runForkWith(this.context)(effect)
      fiber.addObserver((exit) => {
        if (this.isAlive) onExit(exit)
      })
    })
    return () => this.enqueue(() => fiber?.interruptUnsafe())
  }

  /** Lets something happen to the process after so many milliseconds of the world, if it is alive then. */
  after(ms: number, happen: () => void): void {
    this.world.after(ms, () => {
      if (this.isAlive) happen()
    })
  }

  /** Has shown to others that it is alive. */
  beat(): void {
    const { beats, world: { now } } = this
    const isSteady = beats !== undefined && now - beats.lastMs <= steadyMs
    this.beats = { sinceMs: isSteady ? beats.sinceMs : now, lastMs: now }
  }

  /** Whether it has steadily shown for so long that it is alive. */
  hasBeaten(forMs: number): boolean {
    const { beats, isAlive, world: { now } } = this
    return isAlive && beats !== undefined && now - beats.lastMs <= steadyMs && now - beats.sinceMs > forMs
  }

  /** Lets something happen when it dies. Gives back how not to. */
  onCrash(happen: () => void): () => void {
    this.mourners.add(happen)
    return () => this.mourners.delete(happen)
  }

  /** Dies. */
  crash(): void {
    this.isAlive = false
    this.turns.length = 0
    for (const mourn of this.mourners) mourn()
    this.mourners.clear()
  }

  /** Takes one turn, and says whether there is another. */
  turn(): boolean {
    const next = this.turns[this.taken]
    if (next !== undefined) {
      this.taken++
      next()
    }
    if (this.taken < this.turns.length) return true
    this.turns.length = 0
    this.taken = 0
    this.isWaiting = false
    return false
  }

  private enqueue(turn: () => void): void {
    if (!this.isAlive) return
    this.turns.push(turn)
    if (this.isWaiting) return
    this.isWaiting = true
    this.world.wake(this)
  }

  private scheduler(maxTurn: number): Scheduler.Scheduler {
    let cut = this.dice.between(1, maxTurn)
    const dispatcher: Scheduler.SchedulerDispatcher = {
      scheduleTask: (task) => this.enqueue(task),
      flush: () => undefined
    }
    return {
      executionMode: "async",
      makeDispatcher: () => dispatcher,
      shouldYield: (fiber) => {
        if (fiber.currentOpCount < cut) return false
        cut = this.dice.between(1, maxTurn)
        return true
      }
    }
  }

  private clock(): Clock.Clock {
    const nanos = () => BigInt(this.time) * nanosPerMilli
    const monotonic = () => BigInt(Math.floor(this.world.now * this.pace)) * nanosPerMilli
    return {
      currentTimeMillisUnsafe: () => this.time,
      currentTimeMillis: Effect.sync(() => this.time),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) => {
        const ms = Duration.toMillis(duration)
        if (ms <= 0) return Effect.yieldNow
        if (!Number.isFinite(ms)) return Effect.never
        return Effect.callback((resume) => {
          let isOver = false
          this.after(Math.ceil(ms / this.pace), () => {
            if (!isOver) resume(Effect.void)
          })
          return Effect.sync(() => {
            isOver = true
          })
        })
      }
    }
  }
}
