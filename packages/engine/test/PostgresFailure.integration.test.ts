import { TaskStore } from "@effect-mcp-tasks/engine"
import { completed, working } from "@effect-mcp-tasks/testing/StoredTasks"
import type { PgClient } from "@effect/sql-pg"
import { assert, describe } from "@effect/vitest"
import { Array as Arr, Context, Duration, Effect, Fiber, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as clients from "./clients.ts"
import * as OwnServer from "./OwnServer.ts"
import { failing, failures, soon, test } from "./ServerStores.ts"
import * as services from "./services.ts"
import * as TcpProxy from "./TcpProxy.ts"

const maxLive = 1_000_000

/** A store over a client, and the client. */
const open = Effect.fnUntraced(function*<E>(client: Layer.Layer<SqlClient.SqlClient, E>) {
  const context = yield* Layer.build(Layer.fresh(Layer.provideMerge(TaskStore.layerSql, client)))
  return { store: Context.get(context, TaskStore.TaskStore), sql: Context.get(context, SqlClient.SqlClient) }
})

const onPort = (url: string, port: number) => {
  const other = new URL(url)
  other.hostname = "127.0.0.1"
  other.port = String(port)
  return other.href
}

/** Two clients of one new schema: one by the address given, one that nothing comes between. */
const pair = Effect.fnUntraced(function*(
  url: string,
  through: string,
  options: Partial<PgClient.PgPoolConfig> = {}
) {
  const witness = yield* open(services.postgresClient(url))
  const schema = yield* Effect.provideService(services.currentSchema, SqlClient.SqlClient, witness.sql)
  const subject = yield* open(clients.postgres(through, schema, options))
  return { witness, subject }
})

services.withService(services.postgres, (url) => {
  describe("a Postgres server", () => {
    test("that ends connections in the middle of writes loses none that it acknowledged", Effect.gen(function*() {
      const applicationName = services.uniqueName()
      const { subject, witness } = yield* pair(url, url, { applicationName, maxConnections: 4 })
      const { store } = subject
      const acknowledged: Array<string> = []
      const reasons = new Set<string>()
      let made = 0
      const writing = Effect.gen(function*() {
        const taskId = `task-${made++}`
        const result = yield* Effect.result(store.create(working({ taskId }), { maxLive }))
        if (Result.isSuccess(result)) acknowledged.push(taskId)
        else reasons.add(result.failure._tag === "TaskStoreError" ? result.failure.reason : result.failure._tag)
      })
      const ending = Effect.gen(function*() {
        for (let round = 1; round <= 10; round++) {
          while (acknowledged.length < round * 10) yield* Effect.sleep("5 millis")
          yield* witness.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = ${applicationName}`
        }
      })
      const writers = Effect.all(Arr.replicate(Effect.forever(writing), 8), { concurrency: "unbounded" })
      yield* Effect.raceFirst(writers, ending)
      assert.deepStrictEqual([...reasons], ["ConnectionLost"])
      for (const taskId of acknowledged) assert.isTrue(Option.isSome(yield* witness.store.read(taskId)), taskId)
      assert.strictEqual((yield* soon(store.create(working({ taskId: "after" }), { maxLive }))).version, 1)
    }))

    test("that cannot index an owner refuses it for good, and keeps nothing of it", Effect.gen(function*() {
      const { store } = yield* open(services.postgresClient(url))
      const owner = Arr.makeBy(500, () => services.uniqueName()).join("")
      const refused = yield* Effect.flip(store.create(working({ owner }), { maxLive }))
      assert.instanceOf(refused, TaskStore.TaskStoreError)
      assert.strictEqual(refused.reason, "TooLarge")
      assert.isTrue(Option.isNone(yield* store.read("task-1")))
    }))

    test("whose answer is lost may have written: a second try says that somebody wrote", Effect.gen(function*() {
      const proxy = yield* TcpProxy.make(Number(new URL(url).port || 5432))
      const { subject, witness } = yield* pair(url, onPort(url, proxy.port), { maxConnections: 1 })
      const { store } = subject
      const held = yield* store.create(working(), { maxLive })
      const other = yield* store.create(working({ taskId: "other" }), { maxLive })
      yield* store.replace(other, working({ taskId: "other" }))
      yield* proxy.loseReplies
      const next = working({ statusMessage: "mine" })
      const writing = yield* Effect.forkChild(Effect.flip(store.replace(held, next)))
      yield* soon(Effect.filterOrFail(witness.store.read("task-1"), (read) => Option.getOrThrow(read).version === 2))
      yield* proxy.pass
      yield* proxy.cut
      const error = yield* Fiber.join(writing)
      assert.instanceOf(error, TaskStore.TaskStoreError)
      assert.deepStrictEqual([error.reason, error.mayHaveHappened], ["ConnectionLost", true])
      const again = yield* soon(Effect.flip(store.replace(held, next)).pipe(
        Effect.filterOrFail((error) => error instanceof TaskStore.VersionConflict)
      ))
      assert.deepStrictEqual([again.taskId, again.version], ["task-1", 1])
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some({ task: next, version: 2 }))
    }))

    test("whose connections fall silent fails what waits, and within 15 seconds all goes over new ones", Effect.gen(
      function*() {
        const proxy = yield* TcpProxy.make(Number(new URL(url).port || 5432))
        const { subject, witness } = yield* pair(url, onPort(url, proxy.port), { maxConnections: 3 })
        const { sql, store } = subject
        const held = yield* store.create(working(), { maxLive })
        const lent = Array.from({ length: 3 }, () => sql`SELECT pg_sleep(0.1)`)
        yield* Effect.all(lent, { concurrency: "unbounded" })
        assert.strictEqual(yield* proxy.connections, 3)
        yield* proxy.silence
        const [took, error] = yield* Effect.timed(Effect.flip(store.replace(held, working({ statusMessage: "lost" }))))
        assert.instanceOf(error, TaskStore.TaskStoreError)
        assert.deepStrictEqual([error.reason, error.mayHaveHappened], ["Unavailable", true])
        assert.isBelow(Duration.toSeconds(took), 8)
        // Those that nobody uses are found out meanwhile: whoever comes next does not wait for one after another.
        const [until] = yield* Effect.timed(soon(store.replace(held, working({ statusMessage: "again" }))))
        assert.isBelow(Duration.toSeconds(took) + Duration.toSeconds(until), 15)
        const read = Option.getOrThrow(yield* witness.store.read("task-1"))
        assert.deepStrictEqual([read.version, read.task.statusMessage], [2, "again"])
        yield* soon(Effect.filterOrFail(Effect.all(lent, { concurrency: "unbounded" }), (rows) => rows.length === 3))
      }
    ))

    test("whose table somebody else locks fails what waits for it, and its connection is used on", Effect.gen(
      function*() {
        const { subject, witness } = yield* pair(url, url, { maxConnections: 1 })
        const { sql, store } = subject
        const held = yield* store.create(working(), { maxLive })
        const backend = sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
        const before = yield* backend
        const waiting = witness.sql`SELECT pid FROM pg_locks
          WHERE NOT granted AND relation = 'mcp_tasks'::regclass`
        const error = yield* witness.sql.withTransaction(Effect.gen(function*() {
          yield* witness.sql`LOCK TABLE mcp_tasks`
          const error = yield* Effect.flip(store.replace(held, working()))
          yield* soon(Effect.filterOrFail(waiting, (rows) => rows.length === 0))
          return error
        }))
        assert.strictEqual(error._tag === "TaskStoreError" && error.reason, "Unavailable")
        assert.strictEqual((yield* store.replace(held, working())).version, 2)
        assert.deepStrictEqual(yield* backend, before)
      }
    ))

    test("that is read-only refuses to write, and goes on to read", Effect.gen(function*() {
      const { sql, store } = yield* open(services.postgresClient(url, { maxConnections: 1 }))
      const held = yield* store.create(working(), { maxLive })
      yield* sql`SET default_transaction_read_only = on`
      assert.deepStrictEqual(yield* failures(store), failing("ReadOnly", "writes"))
      const refusal = yield* Effect.flip(store.replace(held, working()))
      assert.strictEqual(refusal._tag === "TaskStoreError" && refusal.mayHaveHappened, false)
      yield* sql`SET default_transaction_read_only = off`
      assert.strictEqual((yield* store.replace(held, working())).version, 2)
    }))

    test("is never given a row that its client could not read", Effect.gen(function*() {
      const { store } = yield* open(services.postgresClient(url, { maxMessageSize: 64 * 1024 }))
      const fits = working({ arguments: { blob: "x".repeat(60_000) } })
      const held = yield* store.create(fits, { maxLive })
      assert.deepStrictEqual(yield* store.read("task-1"), Option.some(held))
      // Fewer code units than the limit, and more bytes.
      for (const blob of ["x".repeat(65_000), "€".repeat(30_000)]) {
        const create = yield* Effect.flip(store.create(working({ taskId: "large", arguments: { blob } }), { maxLive }))
        const replace = yield* Effect.flip(store.replace(held, working({ arguments: { blob } })))
        const end = yield* Effect.flip(store.replace(held, completed(working(), JSON.stringify({ blob }))))
        for (const error of [create, replace, end]) {
          assert.instanceOf(error, TaskStore.TaskStoreError)
          assert.deepStrictEqual([error.reason, error.isPermanent, error.mayHaveHappened], ["TooLarge", true, false])
        }
      }
      assert.deepStrictEqual(yield* store.read("large"), Option.none())
      const ended = yield* store.replace(held, completed(working(), JSON.stringify({ blob: "x".repeat(60_000) })))
      assert.deepStrictEqual(yield* store.list({ limit: 10 }), [ended])
      assert.isTrue(Option.isSome(yield* store.view("task-1")))
    }))
  })
})

services.withService(services.postgresBinary, () => {
  describe("a Postgres server of one's own", () => {
    test("that is restarted fails every operation meanwhile, and has everything afterwards", Effect.gen(function*() {
      const server = yield* OwnServer.postgres()
      const { store } = yield* open(services.postgresClient(server.url))
      const held = yield* store.create(working(), { maxLive })
      // SIGINT: a fast shutdown, as a restart by its service does.
      yield* server.kill("SIGINT")
      assert.deepStrictEqual(yield* Effect.timeout(failures(store), "1 minute"), failing("ConnectionLost"))
      yield* server.start
      assert.deepStrictEqual(yield* soon(store.read("task-1")), Option.some(held))
      const second = yield* store.replace(held, working({ statusMessage: "restarted" }))
      yield* server.kill("SIGKILL")
      yield* server.start
      assert.deepStrictEqual(yield* soon(store.read("task-1")), Option.some(second))
    }))
  })
})
