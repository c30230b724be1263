import { TaskSignal } from "@effect-mcp-tasks/engine"
import { listener, reaches } from "@effect-mcp-tasks/testing/TaskSignalListener"
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import * as clients from "./clients.ts"
import * as OwnServer from "./OwnServer.ts"
import { soon, test } from "./ServerStores.ts"
import * as services from "./services.ts"
import * as TcpProxy from "./TcpProxy.ts"

/** How late an answer may be until it counts as lost: a busy machine takes its time. */
const heartbeat = "3 seconds"

/** Builds a signal, and collects what it says in the log; what its client says is another matter. */
const build = Effect.fnUntraced(function*<E, R>(layer: Layer.Layer<TaskSignal.TaskSignal, E, R>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    const [text] = Array.isArray(message) ? message : [message]
    if (String(text).startsWith("Signals")) lines.push(`${logLevel} ${String(text)}`)
  })
  const context = yield* Layer.build(Layer.fresh(Layer.provideMerge(layer, Logger.layer([logger]))))
  return { signal: Context.get(context, TaskSignal.TaskSignal), lines }
})

const lost = "Warn Signals between processes are lost; each looks at its tasks on a heartbeat until they arrive again"
const back = "Info Signals between processes arrive again"

const onRedis = (url: string) =>
  Layer.provide(TaskSignal.layerRedisWith({ heartbeat }), Layer.provide(clients.redis(url), clients.quiet))

const admin = (url: string) =>
  Effect.map(Layer.build(Layer.fresh(Layer.provide(clients.redis(url), clients.quiet))), Context.get(Redis.Redis))

services.withService(services.redisBinary, () => {
  describe("signals over Redis", () => {
    test("come back after it was killed; the log says each once", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const here = yield* build(onRedis(server.url))
      const there = yield* build(onRedis(server.url))
      const heard = yield* listener(there.signal)
      yield* reaches(here.signal, heard, "before")
      yield* server.kill()
      const own = yield* listener(here.signal)
      yield* here.signal.publish("meanwhile")
      yield* soon(Effect.suspend(() => here.lines.length > 0 && there.lines.length > 0 ? Effect.void : Effect.fail("")))
      yield* Effect.sleep("3 seconds")
      assert.isTrue(own.has("meanwhile"))
      assert.deepStrictEqual([here.lines, there.lines], [[lost], [lost]])
      yield* server.start
      yield* reaches(here.signal, heard, "after")
      yield* soon(Effect.suspend(() => here.lines.length > 1 && there.lines.length > 1 ? Effect.void : Effect.fail("")))
      assert.deepStrictEqual([here.lines, there.lines], [[lost, back], [lost, back]])
    }))

    test("come back after the connections that listen were closed, and no connection is left over", Effect.gen(
      function*() {
        const server = yield* OwnServer.redis()
        const redis = yield* admin(server.url)
        const subscriptions = Effect.map(
          redis.send<ReadonlyArray<unknown>>("PUBSUB", "NUMSUB", "mcp_tasks"),
          (counts) => Number(counts.at(-1))
        )
        const here = yield* build(onRedis(server.url))
        const there = yield* build(onRedis(server.url))
        const heard = yield* listener(there.signal)
        for (let round = 1; round <= 5; round++) {
          yield* reaches(here.signal, heard, `before ${round}`)
          yield* redis.send("CLIENT", "KILL", "TYPE", "pubsub")
          yield* reaches(here.signal, heard, `after ${round}`)
        }
        yield* soon(Effect.filterOrFail(subscriptions, (count) => count === 2))
      }
    ))

    test("are missed within two heartbeats on a connection that looks open and brings nothing", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const proxy = yield* TcpProxy.make(server.port)
      const here = yield* build(onRedis(server.url))
      const there = yield* build(onRedis(`redis://127.0.0.1:${proxy.port}`))
      const heard = yield* listener(there.signal)
      yield* reaches(here.signal, heard, "before")
      yield* proxy.loseReplies
      yield* soon(Effect.suspend(() => there.lines.length > 0 ? Effect.void : Effect.fail("not yet")))
      yield* proxy.pass
      yield* proxy.cut
      yield* reaches(here.signal, heard, "after")
      assert.deepStrictEqual(there.lines[0], lost)
      assert.deepStrictEqual(here.lines, [])
    }))

    test("come back where a subscription was never answered, and would not be any more", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const proxy = yield* TcpProxy.make(server.port)
      const here = yield* build(onRedis(server.url))
      const there = yield* build(onRedis(`redis://127.0.0.1:${proxy.port}`))
      const heard = yield* listener(there.signal)
      yield* reaches(here.signal, heard, "before")
      yield* proxy.loseReplies
      yield* proxy.cut
      yield* soon(Effect.suspend(() => there.lines.length > 0 ? Effect.void : Effect.fail("not yet")))
      yield* Effect.sleep("2 seconds")
      yield* proxy.silence
      yield* proxy.pass
      yield* reaches(here.signal, heard, "after")
      yield* soon(Effect.suspend(() => there.lines.length > 1 ? Effect.void : Effect.fail("not yet")))
      assert.deepStrictEqual(there.lines, [lost, back])
    }))

    test("take no notice of what others say on the channel", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const redis = yield* admin(server.url)
      const here = yield* build(onRedis(server.url))
      const there = yield* build(onRedis(server.url))
      const heard = yield* listener(there.signal)
      yield* reaches(here.signal, heard, "before")
      for (const text of ["", "{", "null", "[]", "[1]", `["x",1]`, `{"0":"x"}`, "\u0000", "x".repeat(100_000)]) {
        yield* redis.send("PUBLISH", "mcp_tasks", text)
      }
      yield* redis.send("PUBLISH", "mcp_tasks", `["somebody","named"]`)
      yield* reaches(here.signal, heard, "after")
      assert.isTrue(heard.has("named"))
      assert.sameMembers([...heard].filter((taskId) => !["before", "after", "named"].includes(taskId)), [])
      assert.deepStrictEqual(there.lines, [])
    }))

    test("are lost without harm when Redis is not there from the start", Effect.gen(function*() {
      const server = yield* OwnServer.redis()
      const redis = yield* admin(server.url)
      yield* server.kill()
      const { lines, signal } = yield* build(Layer.provide(
        TaskSignal.layerRedisWith({ heartbeat }),
        Layer.succeed(Redis.Redis, redis)
      ))
      const own = yield* listener(signal)
      yield* reaches(signal, own, "here")
      yield* soon(Effect.suspend(() => lines.length > 0 ? Effect.void : Effect.fail("not yet")))
      yield* Effect.sleep("2 seconds")
      assert.deepStrictEqual(lines, [lost])
    }))
  })
})

services.withService(services.postgres, (url) => {
  describe("signals over Postgres", () => {
    test("come back after the server ended their connections; the log says each once", Effect.gen(function*() {
      const channel = services.uniqueName()
      const layer = (applicationName: string) =>
        Layer.provide(
          TaskSignal.layerPostgresWith({ channel, heartbeat }),
          clients.postgres(url, "public", { applicationName })
        )
      const name = services.uniqueName()
      const here = yield* build(layer(services.uniqueName()))
      const there = yield* build(layer(name))
      const client = yield* Layer.build(Layer.fresh(clients.postgres(url, "public")))
      const sql = Context.get(client, SqlClient.SqlClient)
      const heard = yield* listener(there.signal)
      for (let round = 1; round <= 3; round++) {
        yield* reaches(here.signal, heard, `before ${round}`)
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${name}`
        yield* reaches(here.signal, heard, `after ${round}`)
        yield* soon(Effect.suspend(() => there.lines.length === 2 * round ? Effect.void : Effect.fail("not yet")))
      }
      assert.deepStrictEqual(there.lines, [lost, back, lost, back, lost, back])
      assert.deepStrictEqual(here.lines, [])
    }))
  })
})
