/**
 * Answers that never come or come late, and how whoever waits for one learns of it: a test that waits for ever says
 * nothing.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"

/**
 * A request to which there will be no reply.
 *
 * @since 0.2.0
 */
export class NoReply extends Schema.TaggedError<NoReply>()("NoReply", {
  /** What was asked for. */
  method: Schema.String,
  /** Why there will be no reply. */
  why: Schema.String
}) {
  override get message(): string {
    return `No reply to ${this.method}: ${this.why}`
  }
}

/** Who wants to know what becomes of a request. */
interface Listener {
  /** Hears that there will be no answer. */
  readonly lost: (why: string) => Effect.Effect<void>
  /** What holds the request up at the moment. */
  readonly holds: Set<string>
}

/** What an answer that never comes does to its request: it waits, unless somebody wants to know. */
const Silence = Context.Reference<Listener | undefined>("@effect-mcp-tasks/testing/internal/Silence", {
  defaultValue: () => undefined
})

/**
 * Answers nothing, ever.
 *
 * @since 0.2.0
 */
export const keep = (why: string): Effect.Effect<never> =>
  Effect.flatMap(Silence, (listener) =>
    listener === undefined ? Effect.never : Effect.andThen(listener.lost(why), Effect.never))

/**
 * Waits for something that holds a request up.
 *
 * @since 0.2.0
 */
export const hold = (why: string, waiting: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.flatMap(Silence, (listener) => {
    if (listener === undefined) return waiting
    listener.holds.add(why)
    return Effect.ensuring(waiting, Effect.sync(() => listener.holds.delete(why)))
  })

/**
 * Does something of which nobody hears when it waits for ever.
 *
 * @since 0.2.0
 */
export const unheard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Silence, undefined)

/**
 * A request that is under way.
 *
 * @since 0.2.0
 */
export interface Asking<A, E> {
  /** Dies with `NoReply` where what the request needs keeps silent. */
  readonly reply: Deferred.Deferred<A, E>
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly holds: ReadonlySet<string>
}

/**
 * Sends a request.
 *
 * @since 0.2.0
 */
export const ask = Effect.fnUntraced(function*<A, E, R>(method: string, request: Effect.Effect<A, E, R>) {
  const reply = Deferred.makeUnsafe<A, E>()
  const holds = new Set<string>()
  const lost = (why: string) => Effect.asVoid(Deferred.die(reply, new NoReply({ method, why })))
  // Nobody's child: what waits for ever within a write cannot be interrupted, and would hold up the end of the test.
  const fiber = yield* Effect.forkDetach(
    request.pipe(
      Effect.provideService(Silence, { lost, holds }),
      Effect.onExit((exit) => Deferred.done(reply, exit))
    ),
    { startImmediately: true }
  )
  return { reply, fiber, holds } satisfies Asking<A, E> as Asking<A, E>
})
