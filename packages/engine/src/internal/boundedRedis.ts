/**
 * Redis with a limit to how long a command is waited for, as those have that go by its client alone: one that stands
 * still, and whose connection stays open, would be waited for without end.
 *
 * @since 0.2.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"

/** As long as the store waits, unless it is told otherwise. */
const limit = Duration.seconds(5)

const within = <A>(reply: Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, Redis.RedisError> =>
  Effect.timeoutOrElse(reply, {
    duration: limit,
    orElse: () =>
      Effect.fail(new Redis.RedisError({ cause: new Error(`Redis did not answer within ${Duration.format(limit)}`) }))
  })

/**
 * The Redis around it, whose commands and scripts fail after 5 seconds without an answer. They may be carried out all
 * the same.
 *
 * @since 0.2.0
 */
export const layer: Layer.Layer<Redis.Redis, never, Redis.Redis> = Layer.effect(
  Redis.Redis,
  Effect.map(Redis.Redis, (redis) => ({
    ...redis,
    send: (command, ...args) => within(redis.send(command, ...args)),
    eval: (script) => {
      const run = redis.eval(script)
      return (...params) => within(run(...params))
    }
  }))
)
