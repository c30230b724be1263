/**
 * The SQL store on a SQLite file, beside `node:sqlite` with prepared statements, one transaction for each write.
 *
 * @since 0.1.0
 */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { Layer } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Bare, ofDriver, ofStore, type Pair } from "./Contestant.ts"

/** The table and the indexes of the store. */
const schema = `
  CREATE TABLE tasks (task_id TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, owner TEXT NOT NULL,
    live INTEGER NOT NULL, due_at BIGINT, head TEXT NOT NULL, result TEXT, body TEXT NOT NULL);
  CREATE INDEX tasks_due ON tasks (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX tasks_live ON tasks (task_id) WHERE live = 1;
  CREATE INDEX tasks_owner ON tasks (owner, task_id) WHERE live = 1`

const driver = (database: DatabaseSync): Bare => {
  const insert = database.prepare("INSERT INTO tasks VALUES (?, 1, ?, ?, ?, ?, ?, ?)")
  const update = database.prepare(
    "UPDATE tasks SET version = version + 1, live = ?, due_at = ?, head = ?, result = ?, body = ? " +
      "WHERE task_id = ? AND version = ?"
  )
  const poll = database.prepare("SELECT owner, live, due_at, head, result FROM tasks WHERE task_id = ?")
  const read = database.prepare("SELECT version, result, body FROM tasks WHERE task_id = ?")
  const live = (is: boolean) => is ? 1 : 0
  return {
    create: (it) =>
      insert.run(it.taskId, it.owner, live(it.live), it.dueAt, it.head, it.result, it.body).changes === 1,
    transition: (it, version) =>
      update.run(live(it.live), it.dueAt, it.head, it.result, it.body, it.taskId, version).changes === 1,
    poll: (taskId) => poll.get(taskId) !== undefined,
    read: (taskId) => read.get(taskId) !== undefined
  }
}

/** Opens both on files of their own, in a directory that goes when they are closed. */
export const open = async (): Promise<Pair> => {
  const directory = await mkdtemp(join(tmpdir(), "bench-stores-"))
  const database = new DatabaseSync(join(directory, "bare.sqlite"))
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${schema}`)
  const filename = join(directory, "store.sqlite")
  return {
    store: ofStore(
      "layerSql",
      Layer.provide(TaskStore.layerSql, SqliteClient.layer({ filename, synchronous: "NORMAL" })),
    ),
    bare: ofDriver("node:sqlite", driver(database), async () => {
      database.close()
      await rm(directory, { recursive: true })
    }),
    settings: "WAL, synchronous = NORMAL: survives the process, not the loss of power"
  }
}
