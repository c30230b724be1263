/**
 * The SQL store on Postgres, beside the connections of `@effect/sql-pg` without `SqlClient` over them.
 *
 * @since 0.1.0
 */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { PgClient, PgPool } from "@effect/sql-pg"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { type Bare, ofDriver, ofStore, type Pair } from "./Contestant.ts"

/** The table and the indexes of the store. */
const schema = [
  `CREATE TABLE tasks (task_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, version INTEGER NOT NULL, owner TEXT NOT NULL,
    live INTEGER NOT NULL, due_at BIGINT, head TEXT NOT NULL, result TEXT, body TEXT NOT NULL)`,
  "CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL",
  "CREATE INDEX tasks_live ON tasks (task_id) WHERE live = 1",
  "CREATE INDEX tasks_owner ON tasks (owner, task_id) WHERE live = 1"
]

const driver = (query: (text: string, values: ReadonlyArray<unknown>) => Promise<ReadonlyArray<unknown>>): Bare => {
  const isThere = async (text: string, values: ReadonlyArray<unknown>) => (await query(text, values)).length === 1
  const live = (is: boolean) => is ? 1 : 0
  return {
    create: (it) =>
      isThere("INSERT INTO tasks VALUES ($1, 1, $2, $3, $4, $5, $6, $7) RETURNING version", [
        it.taskId, it.owner, live(it.live), BigInt(it.dueAt ?? 0), it.head, it.result, it.body
      ]),
    transition: (it, version) =>
      isThere(
        `UPDATE tasks SET version = version + 1, live = $1, due_at = $2, head = $3, result = $4, body = $5
          WHERE task_id = $6 AND version = $7 RETURNING version`,
        [live(it.live), BigInt(it.dueAt ?? 0), it.head, it.result, it.body, it.taskId, version]
      ),
    poll: (taskId) => isThere("SELECT owner, live, due_at, head, result FROM tasks WHERE task_id = $1", [taskId]),
    read: (taskId) => isThere("SELECT version, result, body FROM tasks WHERE task_id = $1", [taskId])
  }
}

/** Opens both in a schema of their own, which goes when they are closed. */
export const open = async (url: string): Promise<Pair> => {
  const name = `bench_${process.pid}`
  const scope = Effect.runSync(Scope.make())
  const end = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const options = { url: Redacted.make(url), maxConnections: 10, startupOptions: `-c search_path=${name}` }
  const pool = await Effect.runPromise(Scope.provide(PgPool.make(options), scope))
  const query = (text: string, values: ReadonlyArray<unknown> = []) =>
    Effect.runPromise(Effect.map(pool.use((connection) => connection.query(text, values)), ({ rows }) => rows))
  const prepare = async () => {
    for (const statement of [`CREATE SCHEMA ${name}`, ...schema]) await query(statement)
    const [setting] = await query("SHOW synchronous_commit")
    return JSON.stringify(setting)
  }
  const setting = await prepare().catch(async (cause: unknown) => {
    await end()
    throw cause
  })
  return {
    store: ofStore("layerSql", Layer.provide(TaskStore.layerSql, PgClient.layer(options))),
    bare: ofDriver("@effect/sql-pg", driver(query), async () => {
      await query(`DROP SCHEMA ${name} CASCADE`)
      await end()
    }),
    settings: `10 connections, ${setting}`
  }
}
