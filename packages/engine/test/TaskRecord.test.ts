import { TaskWire } from "@effect-mcp-tasks/core"
import { anyTask, completed, createdAt, viaJson, working } from "@effect-mcp-tasks/testing/StoredTasks"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as TaskRecord from "../src/TaskRecord.ts"

describe("TaskRecord", () => {
  it("keeps a result once, in its own column", () => {
    const task = completed(working(), `{"content":["only here"]}`)
    const record = TaskRecord.encode(task)
    assert.deepStrictEqual({ ...record, body: "" }, {
      taskId: "task-1",
      owner: "ada",
      live: false,
      dueAt: createdAt + 60_000,
      head: record.head,
      body: "",
      result: task.result
    })
    assert.match(record.head, /^[{].*[}]~[0-9a-f]{8}$/)
    assert.strictEqual(record.head.slice(0, -9), TaskWire.encodeHead(task))
    assert.notInclude(record.body, "only here")
    assert.notInclude(record.head, "only here")
    assert.isFalse(Object.hasOwn(JSON.parse(record.body), "result"))
  })

  it("ignores a result beside a task that has none", () => {
    const row = { ...TaskRecord.encode(working()), version: 1, result: "{}" }
    assert.deepStrictEqual(TaskRecord.decode(row), Result.succeed({ task: working(), version: 1 }))
  })

  const isCorrupt = (result: Result.Result<unknown, TaskRecord.Corrupt>) => {
    assert.isTrue(Result.isFailure(result))
    assert.strictEqual(Result.isFailure(result) && result.failure.reason, "Corrupt")
    assert.isTrue(Result.isFailure(result) && result.failure.cause instanceof Error)
  }

  it("says why a record is none", () => {
    const row = { ...TaskRecord.encode(working()), version: 1 }
    for (const body of ["", "{", "null", "7", `"x"`, "[]", "{}", null, undefined, 5, new Uint8Array(3)]) {
      for (const result of [null, "{}"]) isCorrupt(TaskRecord.decode({ ...row, body, result }))
    }
    const damages = [
      { version: 0 }, { version: -1 }, { version: 1.5 }, { version: "1" }, { version: null }, { version: NaN },
      { version: 2 ** 31 - 1 }, { version: 2 ** 53 }, { owner: "bob" }, { owner: null }, { live: false }, { live: 7 },
      { taskId: "task-2" }, { result: 5 }, { result: undefined }
    ]
    for (const damage of damages) isCorrupt(TaskRecord.decode({ ...row, ...damage }))
    const ended = { ...TaskRecord.encode(completed(working())), version: 1 }
    for (const damage of [{ result: null }, { result: 5 }, { result: undefined }, { live: true }]) {
      isCorrupt(TaskRecord.decode({ ...ended, ...damage }))
    }
  })

  it("views six members of the record and no more", () => {
    const { body: _, ...record } = TaskRecord.encode(completed(working()))
    const head = TaskWire.encodeHead(completed(working()))
    assert.deepStrictEqual(TaskRecord.view({ ...record, version: 1 }), Result.succeed({ ...record, head }))
  })

  it("views nothing that was not written together", () => {
    const { body: _, ...record } = { ...TaskRecord.encode(completed(working(), `{"content":[],"n":10}`)), version: 3 }
    const { head } = record
    for (let at = 0; at < head.length; at++) {
      const other = head[at] === "0" ? "1" : "0"
      isCorrupt(TaskRecord.view({ ...record, head: head.slice(0, at) + other + head.slice(at + 1) }))
      // Without any seal it is taken for one of before there were seals.
      if (at !== head.length - 9) isCorrupt(TaskRecord.view({ ...record, head: head.slice(0, at) }))
    }
    const damages = [
      { result: `{"content":[],"n":11}` }, { result: null }, { result: "" }, { result: `{"content":[],"n":10` },
      { owner: "bob" }, { taskId: "task-2" }, { live: 1 }, { dueAt: "soon" }, { dueAt: Infinity }, { head: null },
      { owner: null }, { version: -1 }, { version: 2 ** 60 }, { head: TaskRecord.encode(working()).head }
    ]
    for (const damage of damages) isCorrupt(TaskRecord.view({ ...record, ...damage }))
  })

  it("views a record of before there were seals, if it is JSON", () => {
    const { body: _, ...record } = { ...TaskRecord.encode(completed(working())), version: 3 }
    const old = { ...record, head: record.head.slice(0, -9) }
    assert.deepStrictEqual(TaskRecord.view(old), TaskRecord.view(record))
    for (const damage of [{ head: old.head.slice(0, -1) }, { result: "{" }, { taskId: "task-2" }, { head: "null" }]) {
      isCorrupt(TaskRecord.view({ ...old, ...damage }))
    }
  })

  it.prop("decodes what it has encoded", { task: anyTask }, ({ task }) => {
    const row = { ...TaskRecord.encode(task), version: 1 }
    assert.deepStrictEqual(TaskRecord.decode(row), Result.succeed({ task: viaJson(task), version: 1 }))
  })
})
