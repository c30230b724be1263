import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { DueQueue } from "../src/internal/dueQueue.ts"

const below = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))

const changes = Arbitrary.array(
  Arbitrary.all({
    taskId: Arbitrary.map(Arbitrary.schema(below(12)), String),
    dueAt: Arbitrary.schema(Schema.NullOr(below(30)))
  }),
  { maxLength: 200 }
)

describe("DueQueue", () => {
  it.prop("agrees with a sorted list after any changes, and holds one entry per task", {
    changes,
    now: below(30),
    limit: below(15)
  }, ({ changes, limit, now }) => {
    const queue = new DueQueue()
    const model = new Map<string, number>()
    for (const { dueAt, taskId } of changes) {
      queue.set(taskId, dueAt)
      if (dueAt === null) model.delete(taskId)
      else model.set(taskId, dueAt)
      assert.strictEqual(queue.size, model.size)
    }
    const expected = [...model.values()].filter((dueAt) => dueAt <= now).toSorted((a, b) => a - b).slice(0, limit)
    for (let again = 0; again < 2; again++) {
      const found = queue.due(now, limit)
      assert.deepStrictEqual(found.map((taskId) => model.get(taskId)), expected)
      assert.strictEqual(new Set(found).size, found.length)
      assert.strictEqual(queue.size, model.size)
    }
  })

  it("keeps its order when the last entry moves up into the gap of another branch", () => {
    const queue = new DueQueue()
    for (const dueAt of [1, 10, 2, 11, 12, 3, 4]) queue.set(`at ${dueAt}`, dueAt)
    queue.set("at 11", null)
    for (const dueAt of [20, 21, 22, 23]) queue.set(`at ${dueAt}`, dueAt)
    assert.deepStrictEqual(queue.due(4, 10), ["at 1", "at 2", "at 3", "at 4"])
  })

  it("does not grow with deadlines that move and tasks that go", () => {
    const queue = new DueQueue()
    for (let turn = 0; turn < 1_000; turn++) {
      queue.set(`task-${turn}`, turn)
      queue.set("moving", turn % 7)
      queue.set(`task-${turn - 10}`, null)
    }
    assert.strictEqual(queue.size, 11)
  })
})
