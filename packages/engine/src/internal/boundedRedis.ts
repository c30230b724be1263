/**
 * Redis with a limit to how long a command is waited for, as those have that go by its client alone: one that stands
 * still, and whose connection stays open, would be waited for without end.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Schedule from "effect/Schedule"
import * as redisConnection from "./redisConnection.ts"

/** As long as the store waits, unless it is told otherwise. */
const limit = Duration.seconds(5)

/** How long after a failure whoever is persistent asks again. */
const pause = Duration.millis(500)

const silent = () =>
  new Redis.RedisError({ cause: new Error(`Redis did not answer within ${Duration.format(limit)}`) })

/**
 * How long the beginning of a connection is waited for, and what it fails with.
 *
 * @since 0.2.0
 */
export const opening = { within: limit, orElse: silent }

const within = <A>(reply: Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, Redis.RedisError> =>
  Effect.timeoutOrElse(reply, { duration: limit, orElse: () => Effect.fail(silent()) })

/** The Redis around it, with all that is asked of it answered in another way. */
const mapped = (change: <A>(reply: Effect.Effect<A, Redis.RedisError>) => Effect.Effect<A, Redis.RedisError>) =>
  Layer.effect(Redis.Redis, Effect.map(redisConnection.watched, (redis) => redisConnection.mapped(redis, change)))

/**
 * The Redis around it, whose commands and scripts fail after 5 seconds without an answer. They may be carried out all
 * the same.
 *
 * @since 0.2.0
 */
export const layer: Layer.Layer<Redis.Redis, never, Redis.Redis> = mapped(within)

/** Whether a failure is not told to whoever asks, but asked again until there is an answer. */
const Persistence = Context.Reference<boolean>("@effect-mcp-tasks/engine/internal/boundedRedis/Persistence", {
  defaultValue: () => false
})

const persistently = <A>(reply: Effect.Effect<A, Redis.RedisError>) =>
  Effect.flatMap(
    Persistence,
    (isPersistent) =>
      isPersistent
        ? reply.pipe(Effect.tapCause(Effect.logWarning), Effect.retry(Schedule.spaced(pause)))
        : reply
  )

/**
 * Gives a layer the same Redis, with one difference for what the layer itself does in the background: there each
 * failure is logged, and what was asked is asked again until it is answered.
 *
 * **When to use**
 *
 * For the queue of effect. Its loop that offers anew what a dead worker had taken ends with the first failure, and
 * nothing would say so or start it again.
 *
 * @since 0.2.0
 */
export const persistent = <A, E>(
  layer: Layer.Layer<A, E, Redis.Redis>
): Layer.Layer<A, E, Redis.Redis> =>
  layer.pipe(
    Layer.provide(Layer.succeed(Persistence, true)),
    Layer.provide(mapped((reply) => persistently(within(reply))))
  )
