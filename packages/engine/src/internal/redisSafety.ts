/**
 * Looks for settings of Redis under which it loses tasks, and says so in the log when a server starts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redis from "effect/persistence/Redis"

/** The value of a line such as `aof_enabled:0` in the answer to `INFO`. */
const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1]

const evicts = (policy: string): string =>
  policy.startsWith("allkeys")
    ? `Redis may evict tasks when its memory is full: maxmemory-policy is ${policy}. Set it to noeviction`
    : `Redis may evict keys that expire, such as the locks of a queue, when its memory is full: maxmemory-policy is ` +
      `${policy}. Set it to noeviction`

const unsaved = "Redis keeps nothing on disk: every task is lost when it restarts. Set appendonly to yes"

const replica = "Redis is a read-only replica: no task can be created here. Connect to the primary"

/**
 * Warns of what would lose tasks. Never fails: a server that answers no such question is only not checked.
 *
 * @since 0.1.0
 */
export const check = (redis: Redis.Redis["Service"]): Effect.Effect<void> =>
  Effect.gen(function*() {
    const info = yield* redis.send<string>("INFO")
    const policy = field(info, "maxmemory_policy")
    if (policy !== undefined && policy !== "noeviction") yield* Effect.logWarning(evicts(policy))
    if (field(info, "role") === "slave") yield* Effect.logWarning(replica)
    if (field(info, "aof_enabled") !== "0") return
    // An array or an object by the version of the protocol; the last value is the schedule of snapshots.
    const save = Object.values(yield* redis.send<object>("CONFIG", "GET", "save")).at(-1)
    if (save === "") yield* Effect.logWarning(unsaved)
  }).pipe(
    Effect.catch((error) => Effect.logInfo("Redis was not checked for settings that lose tasks", error))
  )
