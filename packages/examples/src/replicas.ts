/**
 * `npm run demo:replicas`: three server processes on one Redis, or with `--postgres` on one Postgres.
 *
 * Calls go to all of them, and one is killed with SIGKILL in the middle of a step. Every expectation is checked: exit
 * code 0 means that the task was finished by another process, without doing again what had been finished, 1 that
 * something else happened. Either way, no process, key or table is left behind.
 *
 * @since 0.2.0
 */
import { NodeRedis, NodeRuntime, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Cause, Config, Console, Effect, Layer, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient } from "effect/http"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { DemoClient } from "./DemoClient.ts"
import * as ServerProcess from "./ServerProcess.ts"
import { answer, chapter, check, create, poll, pollUntil, tell, textOf } from "./Story.ts"

const overwrite = { action: "accept", content: { overwrite: true } }

/** A replica with the name that the story calls it by. */
interface Replica extends ServerProcess.Server {
  readonly name: string
}

const mentions = (replica: Replica, text: string) =>
  Effect.map(replica.lines, (lines) => lines.filter((line) => line.includes(text)).length)

/** Which replica does something, once one does. */
const whoever = Effect.fnUntraced(function*(replicas: ReadonlyArray<Replica>, does: string) {
  while (true) {
    for (const replica of replicas) if ((yield* mentions(replica, does)) > 0) return replica
    yield* Effect.sleep("20 millis")
  }
})

const clientOf = (replica: Replica): DemoClient => new DemoClient(replica.url)

const sharing = Effect.fnUntraced(function*([first, second, third]: readonly [Replica, Replica, Replica]) {
  yield* chapter("1. Each replica takes a call, and each knows the tasks of all")
  const ids: Array<string> = []
  for (const [index, replica] of [first, second, third].entries()) {
    yield* tell("", `to replica ${replica.name}:`)
    ids.push(yield* create(clientOf(replica), "export_report", { rows: 41 + index }))
  }
  for (const [index, replica] of [second, third, first].entries()) {
    yield* tell("", `from replica ${replica.name}:`)
    const asked = yield* pollUntil(clientOf(replica), ids[index] ?? "", "input_required")
    yield* check("confirm-overwrite" in asked.inputRequests, "the question", asked)
  }

  yield* chapter("2. An answer to any replica reaches the handler, wherever that waits")
  for (const [index, replica] of [third, first].entries()) {
    yield* tell("", `to replica ${replica.name}:`)
    const taskId = ids[index] ?? ""
    yield* answer(clientOf(replica), taskId, "confirm-overwrite", overwrite)
    const { result } = yield* pollUntil(clientOf(replica), taskId, "completed")
    yield* check(textOf(result) === `Wrote ${41 + index} rows to report.csv`, "the rows", result)
  }
  return ids[2] ?? ""
})

const crash = Effect.fnUntraced(function*(replicas: ReadonlyArray<Replica>, waiting: string) {
  yield* chapter("3. The replica that writes the third report is killed in the middle of it")
  const [teller] = replicas
  if (teller === undefined) return
  yield* answer(clientOf(teller), waiting, "confirm-overwrite", overwrite)
  const victim = yield* whoever(replicas, "Writing 43 rows")
  yield* victim.kill
  yield* tell("kill -9", `replica ${victim.name} is gone, with half of a report written`)

  const others = replicas.filter((replica) => replica !== victim)
  const [witness] = others
  if (witness === undefined) return
  yield* tell("", `from replica ${witness.name}:`)
  yield* poll(clientOf(witness), waiting)
  const heir = yield* whoever(others, "Writing 43 rows")
  yield* tell("", `replica ${heir.name} has taken the task up`)
  const { result } = yield* pollUntil(clientOf(witness), waiting, "completed")
  yield* check(textOf(result) === "Wrote 43 rows to report.csv", "43 rows", result)

  const counts = { queried: 0, written: 0 }
  for (const replica of replicas) {
    counts.queried += yield* mentions(replica, "Querying 43 rows")
    counts.written += yield* mentions(replica, "Writing 43 rows")
  }
  yield* check(counts.queried === 1 && counts.written === 2, "one query, and the writing begun twice", counts)
  yield* tell("logs", "queried once; the step that died was begun again, and the finished one was not")
})

/** Where the replicas keep their tasks, in a place of their own which goes with the scope. */
interface Place {
  readonly what: string
  readonly args: ReadonlyArray<string>
}

const name = `demo_${process.pid}`

const onRedis = Effect.gen(function*() {
  const url = yield* Config.String("REDIS_URL").pipe(Config.withDefault("redis://127.0.0.1:6379"))
  const forget = Effect.gen(function*() {
    const redis = yield* Redis.Redis
    const keys = yield* redis.send<ReadonlyArray<string>>("KEYS", `{${name}}*`)
    if (keys.length > 0) yield* redis.send("DEL", ...keys)
  }).pipe(Effect.provide(NodeRedis.layer({ url })), Effect.orDie)
  yield* Effect.acquireRelease(Effect.void, () => forget)
  return { what: `Redis at ${url}`, args: ["--redis", url, "--name", name] } satisfies Place as Place
})

const onPostgres = Effect.gen(function*() {
  const url = yield* Config.String("DATABASE_URL").pipe(
    Config.withDefault("postgres://postgres@127.0.0.1:5432/postgres")
  )
  const run = (statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }), { local: true })
    )
  yield* Effect.acquireRelease(run(`CREATE SCHEMA ${name}`), () => Effect.orDie(run(`DROP SCHEMA ${name} CASCADE`)))
  return { what: `Postgres at ${new URL(url).host}`, args: ["--postgres", url, "--name", name] } satisfies Place as Place
})

const demo = Effect.fnUntraced(function*(postgres: boolean) {
  const { args, what } = yield* postgres ? onPostgres : onRedis
  const start = (name: string) =>
    Effect.map(ServerProcess.startProgram("replica.ts", args), (server): Replica => ({ ...server, name }))
  const replicas = yield* Effect.all([start("A"), start("B"), start("C")], { concurrency: 3 })
  yield* Console.log(`Three replicas on ${what}`)
  for (const replica of replicas) yield* Console.log(`  ${replica.name} at ${replica.url}`)
  const waiting = yield* sharing(replicas)
  yield* crash(replicas, waiting)
  yield* Console.log("\ndemo: the task of a dead replica was finished by another, and nothing finished was done again")
}, Effect.scoped, Effect.timeout("120 seconds"))

const flags = {
  postgres: Flag.Boolean("postgres").pipe(
    Flag.withDescription("Share a Postgres (DATABASE_URL) instead of a Redis"),
    Flag.withDefault(false)
  )
}

Command.make("npm run demo:replicas --", flags, ({ postgres }) =>
  demo(postgres).pipe(
    Effect.tapCause((cause) => Console.error(`\ndemo: FAILED. ${Cause.prettyErrors(cause).map(String).join("; ")}`))
  )).pipe(
    Command.withDescription("Three servers on one Redis (REDIS_URL), of which one is killed"),
    Command.run({ version: "0.1.0" }),
    Effect.provide(Layer.merge(NodeServices.layer, FetchHttpClient.layer)),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )
