/** An entry whose taker has died comes to others, by the servers' own clocks and without any setting. */
import { TaskQueue } from "@effect-mcp-tasks/engine"
import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Layer } from "effect"
import * as clients from "./clients.ts"
import { test } from "./ServerStores.ts"
import * as services from "./services.ts"
import * as TcpProxy from "./TcpProxy.ts"

/** A lease of three seconds, and the two thirds of one that it may take to notice a death. */
const promised = "5 seconds"

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
  assert.strictEqual(yield* Effect.timeout(other.take(Effect.succeed), promised), "one")
  yield* proxy.redirect(port)
})

const title = `gives another worker what a dead one had taken and not begun, within ${promised}`

services.withService(services.redis, (url) => {
  describe("TaskQueue.layerRedis", () => {
    test(title, Effect.gen(function*() {
      const prefix = services.uniqueName()
      yield* Layer.build(Layer.provide(services.dropKeysAfter(`{${prefix}}*`), clients.redis(url)))
      yield* outlivesItsTaker(url, 6379, (at) =>
        Layer.provide(TaskQueue.layerRedisWith({ prefix }), clients.redis(at)))
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
  })
})
