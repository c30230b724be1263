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
      head: TaskWire.encodeHead(task),
      body: "",
      result: task.result
    })
    assert.notInclude(record.body, "only here")
    assert.notInclude(record.head, "only here")
    assert.isFalse(Object.hasOwn(JSON.parse(record.body), "result"))
  })

  it("ignores a result beside a task that has none", () => {
    const { body } = TaskRecord.encode(working())
    assert.deepStrictEqual(TaskRecord.decode({ body, result: "{}" }), Result.succeed(working()))
  })

  it("says why a record is none", () => {
    for (const body of ["", "{", "null", "7", `"x"`, "[]", "{}"]) {
      for (const result of [null, "{}"]) {
        const { failure } = TaskRecord.decode({ body, result }) as Result.Failure<never, TaskRecord.Corrupt>
        assert.strictEqual(failure.reason, "Corrupt")
        assert.instanceOf(failure.cause, Error)
      }
    }
  })

  it("views six members of the record and no more", () => {
    const { body: _, ...view } = TaskRecord.encode(completed(working()))
    assert.deepStrictEqual(TaskRecord.view(TaskRecord.encode(completed(working()))), view)
  })

  it.prop("decodes what it has encoded", { task: anyTask }, ({ task }) => {
    assert.deepStrictEqual(TaskRecord.decode(TaskRecord.encode(task)), Result.succeed(viaJson(task)))
  })
})
