import {
  after,
  answered,
  asked,
  createdAt,
  given,
  inPhase,
  question,
  recorded,
  released,
  started,
  under,
  withdrawn
} from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { TaskMachine } from "../src/index.ts"

const at = createdAt + 100
const lost = { _tag: "AttemptLost", at } as const
const restarted = { _tag: "Started", at, attempt: 2 } as const
const error = { code: -32603, message: "The server stopped too often while the tool was running" }
const failed = { _tag: "Failed", at, ttlMs: 60_000, error } as const
const start = { _tag: "Start", at } as const
const ask = { _tag: "Ask", at, attempt: 2, ...question("name") } as const
const awaited = { _tag: "InputAwaited", at, key: "name" } as const

/** A task with an open question, whose attempt that waited is lost and whose next one has begun. */
const lostOnce = after(started, asked("name"), lost, restarted)

describe("a lost attempt", () => {
  it("fails a task when too many were lost in a row", () => {
    given(under(after(started), { maxLostAttempts: 0 })).when(start).yields(lost, failed)
    given(started, lost, restarted).when(start).yields(lost, failed)
    given(started, lost, restarted, recorded("load")).when(start).yields(lost, { ...restarted, attempt: 3 })
  })
  it("is not held against a task that waited in it", () => {
    const waiting = under(inPhase.parked, { maxLostAttempts: 0 })
    given(waiting).when(start).yields(lost, restarted)
    given({ ...waiting, lostAttempts: 1 }).when(start).yields(lost, failed)
  })
  it("is made good by the next one that waits for an open question, and that is written once", () => {
    given(lostOnce).when(ask).yields(awaited)
    given(TaskMachine.evolve(lostOnce, awaited)).when(ask).yields()
  })
  it("is not made good by one that finds its answer", () =>
    given({ ...after(started, asked("name"), answered("name")), lostAttempts: 1 }).when({ ...ask, attempt: 1 })
      .yields())
  it("is forgotten with whatever gets the task on, and nothing else of it changes", () => {
    assert.deepStrictEqual(Result.getOrThrow(TaskMachine.step(lostOnce, ask)), { ...lostOnce, lostAttempts: 0 })
    for (const event of [recorded("load"), asked("b"), answered("name"), withdrawn("name")]) {
      assert.strictEqual(TaskMachine.evolve(lostOnce, event).lostAttempts, 0)
    }
    for (const event of [released, { _tag: "Reported", at, message: "half way" }] as const) {
      assert.strictEqual(TaskMachine.evolve(lostOnce, event).lostAttempts, 1)
    }
  })
})
