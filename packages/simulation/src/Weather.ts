/**
 * What becomes of each message in the simulated world: how long it takes, and what goes wrong with it.
 *
 * Rates and troubles end when the world calms down. From then on messages arrive, once and soon.
 *
 * @since 0.1.0
 */
import type { Dice } from "./Dice.ts"
import type { FaultName, RateName, Rates } from "./Faults.ts"
import type { Process } from "./Process.ts"
import type { World } from "./World.ts"

/**
 * What becomes of a call to the store.
 *
 * @since 0.1.0
 */
export interface StoreFate {
  /** How often it is done. */
  readonly times: number
  readonly outMs: number
  readonly backMs: number
  /** After how long the caller is told that it failed; never unless given. */
  readonly failsAfterMs: number | undefined
  readonly why: string
}

/**
 * What becomes of a request of a client.
 *
 * @since 0.1.0
 */
export interface RequestFate {
  /** After how long each copy of it arrives. */
  readonly arrivesMs: ReadonlyArray<number>
  /** How long the answer takes; it is lost unless given. */
  readonly backMs: number | undefined
  /** After how long the server hears that its client has gone; never unless given. */
  readonly abortMs: number | undefined
}

/**
 * What becomes of messages.
 *
 * @since 0.1.0
 */
export class Weather {
  /** Windows of time in which something is cut off, by its name. */
  private readonly closed = new Map<string, number>()
  private readonly world: World
  private readonly dice: Dice
  private readonly rates: Rates
  private readonly calmAtMs: number
  private readonly isSteady: boolean
  private readonly onFault: (name: FaultName) => void

  constructor(world: World, dice: Dice, options: {
    readonly rates: Rates
    readonly calmAtMs: number
    readonly isSteady: boolean
    readonly onFault: (name: FaultName) => void
  }) {
    this.world = world
    this.dice = dice
    this.rates = options.rates
    this.calmAtMs = options.calmAtMs
    this.isSteady = options.isSteady
    this.onFault = options.onFault
  }

  /** Cuts something off for a time. */
  close(what: string, forMs: number): void {
    this.closed.set(what, Math.min(this.calmAtMs, this.world.now + forMs))
  }

  private isClosed(what: string): boolean {
    return (this.closed.get(what) ?? 0) > this.world.now
  }

  private strikes(name: RateName): boolean {
    const rate = this.isClosed(name) ? 1 : this.world.now < this.calmAtMs ? this.rates[name] ?? 0 : 0
    if (!this.dice.chance(rate)) return false
    this.onFault(name)
    return true
  }

  /** How long something takes that takes up to so long. */
  private lasts(upToMs: number): number {
    return this.isSteady ? Math.ceil(upToMs / 2) : this.dice.between(0, upToMs)
  }

  /** Draws what becomes of a call to the store. */
  storeCall(process: Process): StoreFate {
    const slow = this.strikes("store-slow") ? this.dice.between(100, 8_000) : 0
    const fate = { times: 1, outMs: this.lasts(3) + slow, backMs: this.lasts(3), failsAfterMs: undefined, why: "" }
    const timeout = fate.outMs + this.lasts(3_000) + 1
    if (this.isClosed("store")) return this.cut("store-outage", { ...fate, times: 0, failsAfterMs: this.lasts(5) })
    if (this.isClosed(`store of ${process.name}`)) {
      return this.cut("store-isolation", { ...fate, times: 0, failsAfterMs: timeout })
    }
    if (this.strikes("store-fail")) return { ...fate, times: 0, failsAfterMs: fate.outMs + fate.backMs, why: "refused" }
    if (this.strikes("store-lose-request")) return { ...fate, times: 0, failsAfterMs: timeout, why: "no answer" }
    if (this.strikes("store-lose-reply")) return { ...fate, failsAfterMs: timeout, why: "no answer" }
    return this.strikes("store-double") ? { ...fate, times: 2 } : fate
  }

  private cut(name: FaultName, fate: StoreFate): StoreFate {
    this.onFault(name)
    return { ...fate, why: name }
  }

  /** Draws what becomes of a request from a client to a server. */
  request(client: string, server: string): RequestFate {
    const { dice } = this
    const slow = () => this.strikes("net-slow") ? dice.between(100, 6_000) : 0
    const arrival = this.lasts(10) + slow()
    const backMs = this.lasts(10) + slow()
    if (this.isClosed(`${client} to ${server}`)) {
      this.onFault("net-partition")
      return { arrivesMs: [], backMs: undefined, abortMs: undefined }
    }
    if (this.strikes("net-lose-request")) return { arrivesMs: [], backMs: undefined, abortMs: undefined }
    const arrivesMs = this.strikes("net-double") ? [arrival, arrival + dice.between(0, 2_000)] : [arrival]
    if (this.strikes("net-abort")) return { arrivesMs, backMs: undefined, abortMs: dice.between(0, 20) }
    return { arrivesMs, backMs: this.strikes("net-lose-reply") ? undefined : backMs, abortMs: undefined }
  }

  /** Draws when a notification arrives on an open connection, or that it is cut there; never is silence. */
  notification(link: string): { readonly afterMs: number | undefined; readonly isCut: boolean } {
    if (this.isClosed(link)) this.onFault("net-partition")
    const isLost = this.isClosed(link) || this.strikes("net-lose-reply")
    const slow = this.strikes("net-slow") ? this.dice.between(100, 6_000) : 0
    return { afterMs: isLost ? undefined : this.lasts(10) + slow, isCut: this.strikes("net-cut") }
  }

  /** Draws after how long a client notices that its server has died, if it does. */
  breakage(upToMs: number): number | undefined {
    return this.isSteady || this.dice.chance(0.5) ? undefined : this.lasts(upToMs)
  }

  /** Draws after how long each copy of a signal arrives. */
  signal(): ReadonlyArray<number> {
    const { dice } = this
    const arrival = this.lasts(5) + (this.strikes("signal-slow") ? dice.between(100, 10_000) : 0)
    if (this.isClosed("signals")) {
      this.onFault("signal-silence")
      return []
    }
    if (this.strikes("signal-lose")) return []
    return this.strikes("signal-double") ? [arrival, arrival + dice.between(0, 1_000)] : [arrival]
  }
}
