/**
 * An entry whose taker has died comes to others, by the servers' own clocks and without any setting, and a queue that
 * cannot be looked into says so.
 */
import { Health, TaskQueue, TaskStore } from "@effect-mcp-tasks/engine"
import { working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Layer, Logger, Option, Queue, Schedule } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import * as clients from "./clients.ts"
import { test } from "./ServerStores.ts"
import * as services from "./services.ts"
import * as TcpProxy from "./TcpProxy.ts"

/**
 * A lease of three seconds, the two thirds of one that it may take to notice a death, and as long again for a busy
 * machine. By their age alone, entries would be taken again after half a minute.
 */
const longest = "10 seconds"

/** Where a busy machine may take its time: what is missed for good is missed for a minute. */
const soon = "40 seconds"

/** A port of this machine on which nobody listens. */
const nowhere = 1

/** The queue at an address, as a process of its own has it. */
type Reach = (url: string) => Layer.Layer<TaskQueue.TaskQueue, unknown>

const onPort = (url: string, port: number) => {
  const other = new URL(url)
  other.hostname = "127.0.0.1"
  other.port = String(port)
  return other.href
}

const build = (queue: Layer.Layer<TaskQueue.TaskQueue, unknown>) =>
  Effect.map(Layer.build(Layer.fresh(Layer.provide(queue, clients.quiet))), Context.get(TaskQueue.TaskQueue))

/** What a worker took that died before it began is with another one in time. */
const outlivesItsTaker = Effect.fnUntraced(function*(url: string, defaultPort: number, reach: Reach) {
  const port = Number(new URL(url).port) || defaultPort
  const proxy = yield* TcpProxy.make(port)
  const other = yield* build(reach(url))
  const dying = yield* build(reach(onPort(url, proxy.port)))
  const taken = yield* Deferred.make<string>()
  yield* Effect.forkScoped(dying.take((taskId) => Effect.andThen(Deferred.succeed(taken, taskId), Effect.never)))
  yield* dying.offer({ taskId: "one", attempt: 1 })
  assert.strictEqual(yield* Deferred.await(taken), "one")
  yield* proxy.redirect(nowhere)
  yield* proxy.cut
  // To offer it again changes nothing: a worker that looks through all tasks could not help.
  yield* other.offer({ taskId: "one", attempt: 1 })
  assert.strictEqual(yield* Effect.timeout(other.take(Effect.succeed), longest), "one")
  yield* proxy.redirect(port)
})

/** The same with a worker that waits for entries, and has waited through an outage. */
const outlivesAnOutageToo = Effect.fnUntraced(function*(url: string, defaultPort: number, reach: Reach) {
  const port = Number(new URL(url).port) || defaultPort
  const [proxy, dyingProxy] = yield* Effect.all([TcpProxy.make(port), TcpProxy.make(port)])
  const other = yield* build(reach(onPort(url, proxy.port)))
  const found = yield* Queue.make<string>()
  yield* Effect.forkScoped(Effect.forever(other.take((taskId) => Queue.offer(found, taskId))))
  yield* other.offer({ taskId: "before", attempt: 1 })
  // What was done with an entry is said after it was used: an outage in between brings it back.
  const finds = (wanted: string) =>
    Effect.timeout(Effect.repeat(Queue.take(found), { until: (taskId) => taskId === wanted }), soon)
  yield* finds("before")
  yield* proxy.redirect(nowhere)
  yield* proxy.cut
  yield* Effect.sleep("2 seconds")
  yield* proxy.redirect(port)
  const offering = Effect.retry(other.offer({ taskId: "after", attempt: 1 }), Schedule.spaced("100 millis"))
  yield* Effect.timeout(offering, soon)
  yield* finds("after")

  const dying = yield* build(reach(onPort(url, dyingProxy.port)))
  const taken = yield* Deferred.make<string>()
  yield* Effect.forkScoped(dying.take((taskId) => Effect.andThen(Deferred.succeed(taken, taskId), Effect.never)))
  // Whoever offers an entry looks for it at once, the others within a second: now and then one of them is ahead.
  const offered = Effect.fnUntraced(function*(taskId: string) {
    yield* dying.offer({ taskId, attempt: 1 })
    return yield* Effect.raceFirst(Effect.asSome(Deferred.await(taken)), Effect.as(finds(taskId), Option.none()))
  })
  let one = Option.none<string>()
  for (let n = 1; Option.isNone(one); n++) one = yield* offered(`one ${n}`)
  yield* dyingProxy.redirect(nowhere)
  yield* dyingProxy.cut
  yield* finds(one.value)
  yield* dyingProxy.redirect(port)
})

/** Breaks what keeps a queue and nothing else, and mends it; somebody waits for entries all the while. */
const tellsOfItsOutage = Effect.fnUntraced(function*<R>(
  queue: Layer.Layer<TaskQueue.TaskQueue, unknown, R>,
  { mend, spoil }: { readonly spoil: Effect.Effect<unknown, unknown>; readonly mend: Effect.Effect<unknown, unknown> }
) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(Array.isArray(message) ? message[0] : message)))
  const log = Effect.provide(Logger.layer([logger]))
  const context = yield* log(Layer.build(Layer.fresh(Layer.provideMerge(queue, Health.layer))))
  const health = Context.get(context, Health.Health)
  const { offer, take } = Context.get(context, TaskQueue.TaskQueue)
  const taken = yield* Deferred.make<string>()
  yield* log(Effect.forkScoped(take((taskId) => Effect.as(Deferred.succeed(taken, taskId), "used"))))

  const becomes = (wanted: Health.LoopState) =>
    Effect.map(health.ready, ({ loops }) => loops["queue"]).pipe(
      Effect.repeat({ until: (state) => state === wanted, schedule: Schedule.spaced("50 millis") }),
      Effect.timeout(soon)
    )
  yield* becomes("turning")
  yield* spoil
  yield* becomes("failing")
  yield* Effect.sleep("3 seconds")
  assert.isFalse((yield* health.ready).isReady)
  yield* mend
  yield* becomes("turning")
  assert.isTrue((yield* health.ready).isReady)
  yield* offer({ taskId: "one", attempt: 1 })
  assert.strictEqual(yield* Effect.timeout(Deferred.await(taken), soon), "one")
  assert.deepStrictEqual(lines, ["A background loop fails; it tries on", "A background loop works again"])
})

const tells = "is not ready while it cannot be looked into, and the log says so once"

const titleAfter = `does so when the other one has waited through an outage`

const title = `gives another worker what a dead one had taken and not begun, before its age alone would`

services.withService(services.redis, (url) => {
  describe("TaskQueue.layerRedis", () => {
    test(title, Effect.gen(function*() {
      const prefix = services.uniqueName()
      yield* Layer.build(Layer.provide(services.dropKeysAfter(`{${prefix}}*`), clients.redis(url)))
      yield* outlivesItsTaker(url, 6379, (at) =>
        Layer.provide(TaskQueue.layerRedisWith({ prefix }), clients.redis(at)))
    }))

    test(titleAfter, Effect.gen(function*() {
      const prefix = services.uniqueName()
      yield* Layer.build(Layer.provide(services.dropKeysAfter(`{${prefix}}*`), clients.redis(url)))
      yield* outlivesAnOutageToo(url, 6379, (at) =>
        Layer.provide(TaskQueue.layerRedisWith({ prefix }), clients.redis(at)))
    }))

    test(tells, Effect.gen(function*() {
      const prefix = services.uniqueName()
      yield* Layer.build(Layer.provide(services.dropKeysAfter(`{${prefix}}*`), clients.redis(url)))
      const redis = Context.get(yield* Layer.build(clients.redis(url)), Redis.Redis)
      const key = `{${prefix}}:queue:tasks`
      yield* tellsOfItsOutage(Layer.provide(TaskQueue.layerRedisWith({ prefix }), clients.redis(url)), {
        spoil: redis.send("SET", key, "not a list"),
        mend: redis.send("DEL", key)
      })
    }))
  })
})

services.withService(services.postgres, (url) => {
  describe("TaskQueue.layerSql on Postgres", () => {
    test(title, Effect.gen(function*() {
      const schema = yield* services.postgresNewSchema(url)
      yield* outlivesItsTaker(url, 5432, (at) =>
        Layer.provide(TaskQueue.layerSql, clients.postgres(at, schema)))
    }))

    test(titleAfter, Effect.gen(function*() {
      const schema = yield* services.postgresNewSchema(url)
      yield* outlivesAnOutageToo(url, 5432, (at) =>
        Layer.provide(TaskQueue.layerSql, clients.postgres(at, schema)))
    }))

    test("refuses a task whose connection is cut in the transaction, and calls it no defect", Effect.gen(function*() {
      const schema = yield* services.postgresNewSchema(url)
      const proxy = yield* TcpProxy.make(Number(new URL(url).port) || 5432)
      const client = clients.postgres(onPort(url, proxy.port), schema)
      const layers = Layer.merge(TaskQueue.layerSql, TaskStore.layerSql)
      const context = yield* Layer.build(Layer.provideMerge(layers, client))
      const { createWith } = Context.get(context, TaskQueue.TaskQueue)
      const { create } = Context.get(context, TaskStore.TaskStore)
      const created = Effect.tap(Effect.andThen(proxy.cut, create(working(), { maxLive: 1 })), () => proxy.cut)
      const exit = yield* Effect.exit(createWith(created))
      assert.isTrue(Exit.isFailure(exit) && exit.cause.reasons.every(Cause.isFailReason), String(exit))
    }))

    test(tells, Effect.gen(function*() {
      const schema = yield* services.postgresNewSchema(url)
      const client = clients.postgres(url, schema)
      const sql = Context.get(yield* Layer.build(client), SqlClient.SqlClient)
      yield* tellsOfItsOutage(Layer.provide(TaskQueue.layerSql, client), {
        spoil: sql`ALTER TABLE mcp_task_queue RENAME TO elsewhere`,
        mend: sql`ALTER TABLE elsewhere RENAME TO mcp_task_queue`
      })
    }))
  })
})
