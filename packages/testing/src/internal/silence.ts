/**
 * Answers that never come, and how whoever waits for one learns of it: a test that waits for ever says nothing.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
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

/** What an answer that never comes does to its request: it waits, unless somebody wants to know. */
const Silence = Context.Reference<(why: string) => Effect.Effect<never>>("@effect-mcp-tasks/testing/internal/Silence", {
  defaultValue: () => () => Effect.never
})

/**
 * Answers nothing, ever.
 *
 * @since 0.2.0
 */
export const keep = (why: string): Effect.Effect<never> => Effect.flatMap(Silence, (tell) => tell(why))

/**
 * Sends a request, and dies with `NoReply` where what it needs keeps silent.
 *
 * @since 0.2.0
 */
export const noticed = Effect.fnUntraced(function*<A, E, R>(method: string, request: Effect.Effect<A, E, R>) {
  const reply = Deferred.makeUnsafe<A, E>()
  const tell = (why: string) => Effect.andThen(Deferred.die(reply, new NoReply({ method, why })), Effect.never)
  // Nobody's child: what waits for ever within a write cannot be interrupted, and would hold up the end of the test.
  const asking = yield* Effect.forkDetach(
    request.pipe(Effect.provideService(Silence, tell), Effect.onExit((exit) => Deferred.done(reply, exit))),
    { startImmediately: true }
  )
  return yield* Effect.onInterrupt(Deferred.await(reply), () => Fiber.interrupt(asking))
})
