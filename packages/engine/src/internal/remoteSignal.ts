/**
 * A signal between processes, over anything that carries short texts from each to all.
 *
 * Within the process a signal arrives at once. To others it goes in the background, together with those that came in
 * the meantime. A connection is trusted only while it brings back what is sent over it: once per `heartbeat` a process
 * says hello to itself, and more often while something is wrong. When that does not arrive, or anything fails, the
 * process connects again, ever less often until a connection has lasted; the log hears of it once, and once more when
 * it works again. Nobody waits for any of this.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Health } from "../Health.ts"
import type { TaskSignal } from "../TaskSignal.ts"
import type { LoopReport } from "./healthBoard.ts"

/**
 * What carries texts between processes.
 *
 * @since 0.1.0
 */
export interface Wire<E> {
  /** Sends texts, each of at most `maxLength` code units, to all processes, this one too. */
  readonly send: (texts: ReadonlyArray<string>) => Effect.Effect<void, E>
  /** Begins to listen; the effect that it gives takes the texts that have arrived since, or waits for some. */
  readonly listen: Effect.Effect<Effect.Effect<ReadonlyArray<string>, E>, E, Scope.Scope>
}

/** Whoever falls further behind than this loses the oldest hints, not memory. */
const backlog = 16_384

/** Postgres carries less than 8000 bytes at a time; a code unit becomes at most three. */
const maxLength = 2_600

/** How long it may take to send before that is given up: a hint that comes late is of no use. */
const patience = Duration.seconds(5)

const shortest = 100
const longest = 10_000

const monotonic = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** From whom a text is, and which tasks changed. */
const Message = Schema.fromJsonString(Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.String]))
const decode = Schema.decodeUnknownResult(Message)

const encode = (origin: string, taskIds: ReadonlyArray<string>): string => JSON.stringify([origin, ...taskIds])

/**
 * Texts that name these tasks, each once. An id too long for any text is not named: a hint may be lost.
 *
 * @since 0.1.0
 */
export const texts = (origin: string, taskIds: Iterable<string>): ReadonlyArray<string> => {
  const pages: Array<Array<string>> = []
  let length = maxLength
  for (const taskId of new Set(taskIds)) {
    const room = JSON.stringify(taskId).length + 1
    if (room + origin.length + 4 > maxLength) continue
    if (length + room > maxLength) {
      pages.push([])
      length = origin.length + 4
    }
    pages.at(-1)?.push(taskId)
    length += room
  }
  return pages.map((page) => encode(origin, page))
}

/** Says that something fails, once, and that it works again, once; and to `Health` all the while. */
const makeNews = (broken: string, mended: string, report: LoopReport | undefined) => {
  let isBroken = false
  return {
    isBroken: () => isBroken,
    fails: (error: unknown) =>
      Effect.suspend(() => {
        const isNews = !isBroken
        isBroken = true
        return Effect.andThen(report?.fail ?? Effect.void, isNews ? Effect.logWarning(broken, error) : Effect.void)
      }),
    works: Effect.suspend(() => {
      const isNews = isBroken
      isBroken = false
      return Effect.andThen(report?.rest ?? Effect.void, isNews ? Effect.logInfo(mended) : Effect.void)
    })
  }
}

/** How long to wait before the next connection: ever longer, until one has lasted. */
const makePauses = () => {
  let failures = 0
  /** Since when the connection has brought back what is sent over it. */
  let soundSince: number | undefined
  return {
    begin: () => {
      soundSince = undefined
    },
    sound: Effect.map(monotonic, (now) => soundSince ??= now),
    rest: Effect.flatMap(monotonic, (now) => {
      // One that breaks again and again, and works in between, would be news each time.
      if (soundSince !== undefined && now - soundSince >= longest) failures = 0
      return Effect.sleep(Math.min(shortest * 2 ** failures++, longest))
    })
  }
}

/**
 * When a connection is asked whether it brings anything.
 *
 * @since 0.2.0
 */
export interface Beats {
  readonly heartbeat: Duration.Duration
  /** How late an answer may be, where the connection is in doubt anyway; 5 seconds. */
  readonly echo?: Duration.Duration | undefined
}

/**
 * Makes the signal; its background work ends with the scope.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*<E>(wire: Wire<E>, { echo = patience, heartbeat }: Beats) {
  const origin = String(yield* Random.next)
  const hub = yield* Effect.acquireRelease(PubSub.sliding<string>(backlog), PubSub.shutdown)
  const outbox = yield* Queue.sliding<string>(backlog)
  const health = yield* Effect.serviceOption(Health)
  const report = Option.getOrUndefined(health)?.board.join("signals of others", Number.POSITIVE_INFINITY)
  yield* Effect.addFinalizer(() => report?.leave ?? Effect.void)
  const news = makeNews(
    "Signals between processes are lost; each looks at its tasks on a heartbeat until they arrive again",
    "Signals between processes arrive again",
    report
  )
  const send = (texts: ReadonlyArray<string>) => Effect.timeout(wire.send(texts), patience)
  const doubt = Latch.makeUnsafe()
  const pauses = makePauses()
  let isEchoed = false

  const hear = (text: string) =>
    Result.match(decode(text), {
      onFailure: () => Effect.void,
      onSuccess: ([from, ...taskIds]) => {
        if (from !== origin) return Effect.asVoid(PubSub.publishAll(hub, taskIds))
        isEchoed = true
        return Effect.andThen(pauses.sound, news.works)
      }
    })

  const hello = Effect.gen(function*() {
    isEchoed = false
    yield* send([encode(origin, [])])
    const longest = news.isBroken() ? Duration.min(echo, heartbeat) : heartbeat
    yield* Effect.raceFirst(Effect.sleep(longest), Effect.andThen(doubt.await, Effect.sleep(shortest)))
    doubt.closeUnsafe()
    if (!isEchoed) return yield* new Silence()
  })

  const listening = Effect.scoped(Effect.gen(function*() {
    pauses.begin()
    const take = yield* wire.listen
    const hearing = Effect.forever(Effect.flatMap(take, (texts) => Effect.forEach(texts, hear, { discard: true })))
    return yield* Effect.raceFirst(hearing, Effect.forever(hello))
  }))

  const again = (cause: unknown) => Effect.andThen(news.fails(cause), pauses.rest)

  const sending = Effect.flatMap(Queue.takeAll(outbox), (taskIds) =>
    Effect.catchCause(send(texts(origin, taskIds)), (cause) => {
      // Whether it works again must not wait for whoever next has something to send.
      doubt.openUnsafe()
      return news.fails(cause)
    }))

  yield* Effect.forkScoped(Effect.forever(Effect.catchCause(listening, again)))
  yield* Effect.forkScoped(Effect.forever(sending))

  const service: TaskSignal["Service"] = {
    publish: (taskId) =>
      Effect.suspend(() => {
        Queue.offerUnsafe(outbox, taskId)
        return Effect.asVoid(PubSub.publish(hub, taskId))
      }),
    subscribe: PubSub.subscribe(hub)
  }
  return service
})

/** A connection that does not bring back what is sent over it. */
class Silence extends Schema.TaggedError<Silence>()("Silence", {}) {
  override get message(): string {
    return "A message to this process did not come back"
  }
}
