import { after, createdAt, given, released, started, under } from "@effect-mcp-tasks/testing/TaskSpec"
import { describe, it } from "@effect/vitest"

const at = createdAt + 100
const late = createdAt + 60_000
const error = { code: -32603, message: "The task has expired before it ended" }
const expired = { _tag: "Failed", at: late, ttlMs: 70_000, error } as const
const cancelled = { _tag: "Cancelled", at, ttlMs: 60_000 } as const
const restarted = { _tag: "Started", at, attempt: 2 } as const
const lost = { _tag: "AttemptLost", at } as const

describe("Start, said again by the worker that did not hear what became of it", () => {
  const start = { _tag: "Start", at, after: 0, worker: "a" } as const
  const startedBy = (worker: string) => ({ _tag: "Started", at: createdAt, attempt: 1, worker } as const)
  const mine = after(startedBy("a"))

  it("finds what it has started, and loses no attempt", () => given(mine).when(start).yields())
  it("goes on with a tool that must not be repeated, since no handler has run", () =>
    given(under(mine, { recovery: "fail", maxLostAttempts: 0 })).when(start).yields())
  it("is refused when another worker was faster", () =>
    given(startedBy("b")).when(start).refuses("StaleAttempt"))
  it("is refused when its attempt was followed by another, or handed back", () => {
    given(mine).when({ ...start, after: 1 }).yields(lost, { ...restarted, worker: "a" })
    given(startedBy("a"), { ...restarted, worker: "a" }).when(start).refuses("StaleAttempt")
    given(startedBy("a"), released).when(start).refuses("StaleAttempt")
  })
  it("is another claim without its worker, or without the attempt that it follows", () => {
    given(mine).when({ _tag: "Start", at, after: 0 }).refuses("StaleAttempt")
    given(mine).when({ _tag: "Start", at, worker: "a" }).yields(lost, { ...restarted, worker: "a" })
    given(started).when({ _tag: "Start", at, after: 0 }).refuses("StaleAttempt")
  })
  it("cancels what its client has cancelled since", () =>
    given(startedBy("a"), { _tag: "CancelRequested", at: createdAt }).when(start).yields(cancelled))
  it("fails what is due since", () => given(mine).when({ ...start, at: late }).yields(expired))
})
