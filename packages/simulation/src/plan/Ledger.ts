/**
 * What happened in a plan or in a real run, counted by the second, and how many of each thing there were.
 *
 * Both write the same ledger, so that what is compared was counted in the same way. Times are milliseconds from the
 * beginning; what comes after the counted time, or before it, changes no figure but those over time.
 *
 * @since 0.2.0
 */

/**
 * The requests that are counted.
 *
 * @since 0.2.0
 */
export const methods = [
  "tools/call",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "subscriptions/listen",
  "tools/list",
  "server/discover"
] as const

/**
 * A request that is counted.
 *
 * @since 0.2.0
 */
export type Method = (typeof methods)[number]

/**
 * The operations of a store that are counted, by the names that `TaskStore` has for them. A poll is a `view`.
 *
 * @since 0.2.0
 */
export const operations = ["create", "view", "read", "replace", "due", "remove", "list"] as const

/**
 * An operation of a store that is counted.
 *
 * @since 0.2.0
 */
export type Operation = (typeof operations)[number]

/**
 * What there may be several of at a time.
 *
 * **Details**
 *
 * `live` tasks have not ended; `parked` ones of them wait for input, `working` ones are worked at, and `queued` ones
 * wait for a worker. `stored` tasks are in the store, ended ones included. `streams` are subscriptions that are open.
 *
 * @since 0.2.0
 */
export const levelNames = ["live", "parked", "working", "queued", "stored", "streams"] as const

/**
 * What there may be several of at a time.
 *
 * @since 0.2.0
 */
export type LevelName = (typeof levelNames)[number]

/**
 * From when to when things are counted, and into how many parts the whole time is divided for what is shown over time.
 *
 * @since 0.2.0
 */
export interface Span {
  readonly fromMs: number
  readonly untilMs: number
  readonly parts: number
}

/**
 * How often something happens in a second: on average, in the busiest second, and within which bounds the average of
 * another run lies (95 percent, from ten parts of the time).
 *
 * @since 0.2.0
 */
export interface Rate {
  readonly count: number
  readonly mean: number
  readonly peak: number
  readonly plusMinus: number
}

const batches = 10
/** The 97.5th percentile of Student's t with nine degrees of freedom. */
const student = 2.262

/** Counts by the second. */
class Seconds {
  readonly counts: Uint32Array
  private readonly span: Span

  constructor(span: Span) {
    this.span = span
    this.counts = new Uint32Array(Math.ceil(span.untilMs / 1000) + 1)
  }

  add(at: number, count: number): void {
    if (at >= this.span.untilMs || at < 0) return
    const second = Math.floor(at / 1000)
    this.counts[second] = (this.counts[second] ?? 0) + count
  }

  /** The counted seconds; those that are counted in part are counted whole, so spans begin and end with a second. */
  get counted(): Uint32Array {
    return this.counts.subarray(Math.floor(this.span.fromMs / 1000), Math.ceil(this.span.untilMs / 1000))
  }
}

const sum = (counts: Uint32Array): number => counts.reduce((total, count) => total + count, 0)

const rateOf = (counts: Uint32Array): Rate => {
  const total = sum(counts)
  const size = Math.floor(counts.length / batches)
  const means = Array.from(
    { length: batches },
    (_, index) => sum(counts.subarray(index * size, (index + 1) * size)) / size
  )
  const middle = means.reduce((total, mean) => total + mean, 0) / batches
  const variance = means.reduce((total, mean) => total + (mean - middle) ** 2, 0) / (batches - 1)
  return {
    count: total,
    mean: total / counts.length,
    peak: counts.reduce((most, count) => Math.max(most, count), 0),
    plusMinus: size === 0 ? 0 : student * Math.sqrt(variance / batches)
  }
}

/** How many there are of something, over time. */
class Level {
  now = 0
  most = 0
  counted = 0
  private since = 0
  readonly areas: Float64Array
  private readonly span: Span

  constructor(span: Span) {
    this.span = span
    this.areas = new Float64Array(span.parts)
  }

  change(at: number, by: number): void {
    this.settle(at)
    this.now += by
    if (at >= this.span.fromMs && at < this.span.untilMs) this.most = Math.max(this.most, this.now)
  }

  /** Brings the areas up to an instant. */
  settle(at: number): void {
    const { fromMs, parts, untilMs } = this.span
    const until = Math.min(at, untilMs)
    if (until <= this.since) return
    if (until > fromMs) {
      this.most = Math.max(this.most, this.now)
      this.counted += this.now * (until - Math.max(this.since, fromMs))
    }
    const width = untilMs / parts
    for (let from = this.since; from < until;) {
      const part = Math.min(Math.floor(from / width), parts - 1)
      const to = part === parts - 1 ? until : Math.min((part + 1) * width, until)
      this.areas[part] = (this.areas[part] ?? 0) + this.now * (to - from)
      if (to <= from) break
      from = to
    }
    this.since = until
  }
}

/**
 * Averages over the parts of the whole time.
 *
 * @since 0.2.0
 */
export type Course = ReadonlyArray<number>

/**
 * What happened.
 *
 * @since 0.2.0
 */
export class Ledger {
  readonly span: Span
  private readonly requests: ReadonlyMap<Method, Seconds>
  private readonly store: ReadonlyMap<Operation, Seconds>
  private readonly levels: ReadonlyMap<LevelName, Level>

  constructor(span: Span) {
    this.span = span
    this.requests = new Map(methods.map((method) => [method, new Seconds(span)]))
    this.store = new Map(operations.map((operation) => [operation, new Seconds(span)]))
    this.levels = new Map(levelNames.map((name) => [name, new Level(span)]))
  }

  request(at: number, method: Method): void {
    this.requests.get(method)?.add(at, 1)
  }

  operation(at: number, operation: Operation, count = 1): void {
    this.store.get(operation)?.add(at, count)
  }

  change(at: number, name: LevelName, by: 1 | -1): void {
    this.levels.get(name)?.change(at, by)
  }

  /** How many there are of something now. */
  level(name: LevelName): number {
    return this.levels.get(name)?.now ?? 0
  }

  requestRate(wanted: ReadonlyArray<Method> = methods): Rate {
    return rateOf(together(wanted.map((method) => this.requests.get(method)?.counted)))
  }

  operationRate(wanted: ReadonlyArray<Operation> = operations): Rate {
    return rateOf(together(wanted.map((operation) => this.store.get(operation)?.counted)))
  }

  /** The average and the most of something in the counted time. */
  levelOf(name: LevelName): { readonly mean: number; readonly max: number } {
    const level = this.levels.get(name)
    if (level === undefined) return { mean: 0, max: 0 }
    level.settle(this.span.untilMs)
    return { mean: level.counted / (this.span.untilMs - this.span.fromMs), max: level.most }
  }

  /** Something over the whole time. */
  levelCourse(name: LevelName): Course {
    const level = this.levels.get(name)
    level?.settle(this.span.untilMs)
    return Array.from(level?.areas ?? [], (area) => area / (this.span.untilMs / this.span.parts))
  }

  /** Requests in a second over the whole time. */
  requestCourse(wanted: ReadonlyArray<Method> = methods): Course {
    const { parts, untilMs } = this.span
    const counts = together(wanted.map((method) => this.requests.get(method)?.counts))
    const seconds = Math.ceil(untilMs / 1000)
    return Array.from({ length: parts }, (_, part) => {
      const from = Math.floor(part * seconds / parts)
      const to = Math.max(from + 1, Math.floor((part + 1) * seconds / parts))
      return sum(counts.subarray(from, to)) / (to - from)
    })
  }
}

const together = (several: ReadonlyArray<Uint32Array | undefined>): Uint32Array => {
  const all = new Uint32Array(several[0]?.length ?? 0)
  for (const counts of several) counts?.forEach((count, second) => {
    all[second] = (all[second] ?? 0) + count
  })
  return all
}
