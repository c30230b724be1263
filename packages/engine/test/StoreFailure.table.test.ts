import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Redis } from "effect/persistence"
import { SqlError } from "effect/sql"
import * as storeFailure from "../src/internal/storeFailure.ts"

type Reason = TaskStore.TaskStoreError["reason"]

const redis: ReadonlyArray<readonly [says: string, reason: Reason]> = [
  ["READONLY You can't write against a read only replica.", "ReadOnly"],
  ["OOM command not allowed when used memory > 'maxmemory'. script: 1a2b, on @user_script:3.", "Full"],
  ["ERR Error running script (call to f_1a2b): @user_script:3: -OOM command not allowed when", "Full"],
  ["MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", "Full"],
  ["LOADING Redis is loading the dataset in memory", "NotReady"],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "NotReady"],
  ["CLUSTERDOWN The cluster is down", "NotReady"],
  ["MOVED 3999 127.0.0.1:6381", "NotReady"],
  ["NOREPLICAS Not enough good replicas to write.", "NotReady"],
  ["WRONGTYPE Operation against a key holding the wrong kind of value", "Corrupt"],
  ["WRONGKEY {OOM}:due is a string, and not of this store", "Misused"],
  ["BUSY Redis is busy running a script.", "Unavailable"],
  ["NOAUTH Authentication required.", "Unavailable"],
  ["ERR unknown command", "Unavailable"]
]

/** An error of a class that only its client knows. */
const named = (name: string, message: string) => new ({ [name]: class extends Error {} }[name] ?? Error)(message)

const connections: ReadonlyArray<readonly [cause: Error]> = [
  [named("SocketClosedUnexpectedlyError", "Socket closed unexpectedly")],
  [named("SocketTimeoutError", "Socket timeout")],
  [named("ClientClosedError", "The client is closed")],
  [named("ClientOfflineError", "The client is offline")],
  [named("DisconnectsClientError", "Disconnects client")],
  [named("ConnectionTimeoutError", "Connection timeout")],
  [Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })],
  [Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })]
]

describe("an error of Redis", () => {
  it.each(redis)("%s", (says, reason) => {
    const error = storeFailure.fromRedis("create")(new Redis.RedisError({ cause: new Error(says) }))
    assert.deepStrictEqual([error.operation, error.reason], ["create", reason])
    assert.match(error.message, /^The task store could not create: /)
    assert.include(String(error.cause), says)
  })

  it.each(connections)("%s is a lost connection", (cause) => {
    const error = storeFailure.fromRedis("read")(new Redis.RedisError({ cause }))
    assert.deepStrictEqual([error.reason, error.mayHaveHappened], ["ConnectionLost", true])
  })
})

const sql: ReadonlyArray<readonly [name: string, cause: unknown, reason: Reason]> = [
  ["Postgres is read-only", { code: "25006" }, "ReadOnly"],
  ["Postgres has no disk left", { code: "53100" }, "Full"],
  ["Postgres has no memory left", { code: "53200" }, "Full"],
  ["Postgres is shut down", { code: "57P01" }, "ConnectionLost"],
  ["Postgres has crashed", { code: "57P02" }, "ConnectionLost"],
  ["Postgres is starting", { code: "57P03" }, "NotReady"],
  ["Postgres says something else", { code: "22021" }, "Unavailable"],
  ["SQLite is read-only", { code: "ERR_SQLITE_ERROR", errno: 8 }, "ReadOnly"],
  ["SQLite has no disk left", { code: "ERR_SQLITE_ERROR", errno: 13 }, "Full"],
  ["SQLite is locked", { code: "ERR_SQLITE_ERROR", errno: 5 }, "Unavailable"],
  ["nothing is known", undefined, "Unavailable"]
]

describe("an error of a SQL database", () => {
  it.each(sql)("%s", (_, cause, reason) => {
    const error = new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: "it failed" }) })
    const failure = storeFailure.fromSql("replace")(error)
    assert.deepStrictEqual([failure.operation, failure.reason], ["replace", reason])
  })

  it("is a lost connection when the client says so", () => {
    const reason = new SqlError.ConnectionError({ cause: new Error("gone"), message: "gone" })
    assert.strictEqual(storeFailure.fromSql("read")(new SqlError.SqlError({ reason })).reason, "ConnectionLost")
  })
})

describe("TaskStoreError", () => {
  it("says for each reason whether to try again, and whether a write may have happened", () => {
    const of = (reason: Reason) => {
      const error = new TaskStore.TaskStoreError({ operation: "replace", reason, cause: undefined })
      return [error.isPermanent, error.mayHaveHappened]
    }
    assert.deepStrictEqual(of("Unavailable"), [false, true])
    assert.deepStrictEqual(of("ConnectionLost"), [false, true])
    for (const reason of ["ReadOnly", "Full", "Misused", "NotReady"] as const) {
      assert.deepStrictEqual(of(reason), [false, false])
    }
    for (const reason of ["TooLarge", "Corrupt"] as const) assert.deepStrictEqual(of(reason), [true, false])
  })
})
