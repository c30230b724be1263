/**
 * A store in Redis: a hash for each task, and sorted sets to find it by. Each operation is one command or one script,
 * and nothing of a task carries a time to live.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redis from "effect/persistence/Redis"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TaskRecord from "../TaskRecord.ts"
import type { DueTask, TaskStore } from "../TaskStore.ts"
import { TaskAlreadyExists, TaskStoreError, TooManyTasks, VersionConflict } from "../TaskStoreError.ts"
import * as readable from "./readable.ts"
import * as redisConnection from "./redisConnection.ts"
import * as redisSafety from "./redisSafety.ts"
import * as redisScripts from "./redisScripts.ts"
import * as storeFailure from "./storeFailure.ts"

type Operation = TaskStoreError["operation"]

/** The store's keys, and how it asks Redis. */
interface Connection {
  readonly redis: Redis.Redis["Service"]
  readonly keys: redisScripts.Keys
  /** Runs a script, whether Redis knows it already or not. */
  readonly run: <P extends ReadonlyArray<unknown>, A>(
    script: Redis.Script<{ readonly params: P; readonly result: A }>
  ) => (...params: P) => Effect.Effect<A, Redis.RedisError>
  /** Gives up after a while, and says what failed. */
  readonly within: <A>(
    operation: Operation,
    reply: Effect.Effect<A, Redis.RedisError>
  ) => Effect.Effect<A, TaskStoreError>
  /** Ends the connection, so that the client makes a new one. */
  readonly leave: Effect.Effect<void>
}

/**
 * A client that stays connected to a primary that was demoted would be refused for ever, and one whose answers are off
 * by one would give each to the wrong question. So the connection is ended, and the client connects anew to where its
 * address leads by now; but not more often than this.
 */
const shortestStay = Duration.seconds(5)

/** The keys of a store are in one slot of a cluster, which is decided by what stands between their first braces. */
class WrongPrefix extends Schema.TaggedError<WrongPrefix>()("WrongPrefix", { prefix: Schema.String }) {
  override get message(): string {
    return `a prefix of keys is not empty and has no braces; this is "${this.prefix}"`
  }
}

/**
 * Makes the store, after looking for settings of Redis that would lose tasks.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: {
  readonly prefix: string
  readonly timeout: Duration.Duration
}) {
  const { prefix, timeout } = options
  if (!/^[^{}]+$/.test(prefix)) {
    return yield* Effect.die(new WrongPrefix({ prefix }))
  }
  const redis = yield* redisConnection.watched
  const leave = yield* Effect.cachedWithTTL(
    Effect.ignore(Effect.timeoutOption(redis.send("QUIT"), timeout)),
    shortestStay
  )
  const within: Connection["within"] = (operation, reply) =>
    Effect.mapError(reply, storeFailure.fromRedis(operation)).pipe(
      Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(silent(operation, timeout)) }),
      Effect.tapError(({ reason }) => reason === "ReadOnly" ? leave : Effect.void)
    )
  const on = { redis, keys: redisScripts.keys(prefix), run: runOn(redis), within, leave }
  yield* redisSafety.check(redis).pipe(Effect.timeoutOption(timeout))
  return { ...writing(on), ...reading(on) }
})

const isUnknownScript = ({ cause }: Redis.RedisError): boolean => String(cause).includes("NOSCRIPT")

/**
 * The service sends a script that Redis has forgotten again, once. If it is forgotten anew before it is called, it goes
 * in one piece. None of that is done twice: a script that is unknown has not run.
 */
const runOn = (redis: Redis.Redis["Service"]): Connection["run"] =>
<P extends ReadonlyArray<unknown>, A>(script: Redis.Script<{ readonly params: P; readonly result: A }>) => {
  const known = redis.eval(script)
  const whole = (params: P) =>
    redis.send<A>("EVAL", script.lua, `${script.numberOfKeys(...params)}`, ...script.params(...params).map(String))
  return (...params: P) =>
    known(...params).pipe(Effect.catch((error) => isUnknownScript(error) ? whole(params) : Effect.fail(error)))
}

const silent = (operation: Operation, timeout: Duration.Duration): TaskStoreError =>
  new TaskStoreError({
    operation,
    reason: "Unavailable",
    cause: new Error(`Redis did not answer within ${Duration.format(timeout)}`)
  })

/** What Redis answered with when it was asked for a task. */
interface Answered<A> {
  readonly taskId: string
  /** The text that has the id in it. */
  readonly text: Text
  readonly decode: (taskId: string) => Result.Result<A, TaskRecord.Corrupt>
}

/**
 * A client tells answers apart by their order on the connection, and by nothing else. One that is whole, but about
 * another task than the question, shows that the order is lost: nothing on this connection can be believed any more.
 */
const checking = (leave: Effect.Effect<void>) => <A>(operation: Operation, { decode, taskId, text }: Answered<A>) => {
  const decoded = decode(taskId)
  if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
  const [, other] = /"taskId":"([^"]+)"/.exec(text ?? "") ?? []
  if (other === undefined || other === taskId || Result.isFailure(decode(other))) {
    return Effect.fail(new TaskStoreError({ operation, ...decoded.failure }))
  }
  const cause = new Error("Redis answered with another task; its connection is made anew")
  return Effect.andThen(leave, Effect.fail(new TaskStoreError({ operation, reason: "Unavailable", cause })))
}

const writing = (
  { keys, run, within }: Connection
): Pick<TaskStore["Service"], "create" | "replace" | "remove"> => {
  const create = run(redisScripts.create)
  const replace = run(redisScripts.replace)
  const remove = run(redisScripts.remove)
  return {
    create: Effect.fnUntraced(function*(task, { maxLive }) {
      const record = TaskRecord.encode(task)
      switch (yield* within("create", create(keys, record, maxLive))) {
        case "created":
          return { task, version: 1 }
        case "known":
          return yield* new TaskAlreadyExists({ taskId: task.taskId })
        case "many":
          return yield* new TooManyTasks({ limit: maxLive })
      }
    }),

    replace: Effect.fnUntraced(function*(held, next) {
      const { task: { taskId }, version } = held
      const record = TaskRecord.encodeNext(held, next)
      const isReplaced = (yield* within("replace", replace(keys, record, version))) === 1
      return isReplaced ? { task: next, version: version + 1 } : yield* new VersionConflict({ taskId, version })
    }),

    remove: (taskId, version) => Effect.map(within("remove", remove(keys, taskId, version)), (removed) => removed === 1)
  }
}

const reading = (
  { keys, leave, redis, run, within }: Connection
): Omit<TaskStore["Service"], "create" | "replace" | "remove"> => {
  const checked = checking(leave)
  const damaged = new readable.Damaged()
  const due = run(redisScripts.due)
  const list = run(redisScripts.list)
  const members = (taskId: string, ...names: ReadonlyArray<string>) =>
    redis.send<ReadonlyArray<string | null>>("HMGET", keys.tasks + taskId, ...names)

  return {
    read: Effect.fnUntraced(function*(taskId) {
      const parts = yield* within("read", members(taskId, ...decoded))
      if (parts.every(Predicate.isNullish)) return Option.none()
      const [, body] = parts
      return Option.some(
        yield* checked("read", { taskId, text: body, decode: (id) => TaskRecord.decode(unchecked(id, parts)) })
      )
    }),

    view: Effect.fnUntraced(function*(taskId) {
      const parts = yield* within("view", members(taskId, ...viewed))
      if (parts.every(Predicate.isNullish)) return Option.none()
      const [version, owner, live, due, head, result = null] = parts
      const dueAt = due ? integer(due) : null
      const row = { version: integer(version), owner, live: flag(live), dueAt, head, result }
      return Option.some(
        yield* checked("view", { taskId, text: head, decode: (taskId) => damaged.view({ taskId, ...row }) })
      )
    }),

    due: (now, limit) => Effect.map(within("due", due(keys, now, limit)), dueTasks),

    countLive: (owner) =>
      within("countLive", redis.send<number>("ZLEXCOUNT", keys.owned, ...redisScripts.range(owner))),

    list: readable.make(damaged, Effect.fnUntraced(function*(options: ListOptions) {
      const listing = start(keys, options)
      const found: Array<ReturnType<typeof unchecked>> = []
      let from: string | undefined = listing.from
      while (from !== undefined && found.length < options.limit) {
        const rest: redisScripts.Listing = { ...listing, from, limit: options.limit - found.length }
        const [last, ...hits] = yield* within("list", list(keys, rest))
        for (let at = 0; at < hits.length; at += 6) found.push(unchecked(hits[at] ?? "", hits.slice(at + 1, at + 6)))
        from = Predicate.isNullish(last) ? undefined : `(${last}`
      }
      return found
    }))
  }
}

type ListOptions = Parameters<TaskStore["Service"]["list"]>[0]

/** What `decode` needs, but the id; in the order in which the scripts give it. */
const decoded = ["version", "body", "result", "owner", "live"] as const

/** What `view` needs, but the id. */
const viewed = ["version", "owner", "live", "due", "head", "result"] as const

/** The index that lists what is asked for with the fewest misses. */
const start = (
  keys: redisScripts.Keys,
  { after = "", limit, live, owner }: ListOptions
): redisScripts.Listing => {
  const whole = { from: `(${after}`, to: "+", skip: 0, limit, live: undefined }
  if (live !== true) return { ...whole, index: keys.ids, owner, live }
  if (owner === undefined) return { ...whole, index: keys.live, owner }
  const [, to] = redisScripts.range(owner)
  const before = `${owner}\0`
  const skip = new TextEncoder().encode(before).length
  return { ...whole, index: keys.owned, owner: undefined, from: `(${before}${after}`, to, skip }
}

const dueTasks = (flat: ReadonlyArray<string>): ReadonlyArray<DueTask> => {
  const tasks: Array<DueTask> = []
  for (let at = 0; at < flat.length; at += 3) {
    const [taskId = "", version, live] = flat.slice(at, at + 3)
    tasks.push({ taskId, version: TaskRecord.dueVersion(integer(version)), live: live !== "0" })
  }
  return tasks
}

type Text = string | null | undefined

/** A number where the text is that of an integer; else what it is, for whoever says what is wrong. */
const integer = (text: Text): unknown => /^-?[0-9]+$/.test(text ?? "") ? Number(text) : text

const flag = (live: Text): unknown => live === "1" ? true : live === "0" ? false : live

const unchecked = (taskId: string, [version, body, result, owner, live]: ReadonlyArray<Text>) =>
  ({ taskId, version: integer(version), owner, live: flag(live), body, result: result ?? null })
