import { assert, describe, it } from "@effect/vitest"
import type { View } from "../src/campaign/Client.ts"
import * as Verdict from "../src/campaign/Verdict.ts"
import type { Deed } from "../src/campaign/World.ts"

const taskId = "t"

const completed = (text: string): View => ({ taskId, status: "completed", result: { content: [{ text }] } })
const failed = (message: string): View => ({ taskId, status: "failed", error: { code: -32603, message } })
const working: View = { taskId, status: "working" }

const done = completed("a b c")
const seen = (given: Partial<Verdict.Seen> = {}): Verdict.Seen => ({
  taskId,
  tool: "work",
  cancelled: false,
  ended: done,
  last: done,
  ...given
})

const run: Deed = { _tag: "Run", taskId, attempt: 1 }
const begin = (step: string, attempt = 1): Deed => ({ _tag: "Begin", taskId, step, attempt })
const kept = (step: string, attempt = 1): Deed => ({ _tag: "Kept", taskId, step, attempt })
const event = (event: string): Deed => ({ _tag: "Event", taskId, event })

/** What is wrong with a task, by name. */
const faults = (task: Verdict.Seen, ...deeds: ReadonlyArray<Deed>) =>
  Object.entries(Verdict.judge([task], deeds)).filter(([, ids]) => ids.length > 0).map(([name]) => name)

describe("the verdict of a campaign", () => {
  it("finds nothing wrong with what is right", () => {
    assert.deepStrictEqual(
      faults(seen(), event("Created"), run, begin("1"), kept("1"), run, kept("1", 2), begin("2", 2), event("Completed")),
      []
    )
    const cancelled: View = { taskId, status: "cancelled" }
    assert.deepStrictEqual(faults(seen({ ended: cancelled, last: cancelled, cancelled: true })), [])
    const once = failed("The server stopped while the tool was running, and the tool must not be run twice")
    assert.deepStrictEqual(faults(seen({ tool: "once", ended: once, last: once }), run), [])
    const deadly = failed("The server stopped too often while the tool was running")
    assert.deepStrictEqual(faults(seen({ tool: "deadly", ended: deadly, last: deadly }), run, run, run), [])
    const heard = completed("heard")
    assert.deepStrictEqual(faults(seen({ tool: "ask", answered: "heard", ended: heard, last: heard })), [])
  })

  it("finds what is lost, and what is stuck", () => {
    assert.deepStrictEqual(faults(seen({ ended: undefined, last: undefined })), ["lost"])
    assert.deepStrictEqual(faults(seen({ last: undefined })), ["lost"])
    assert.deepStrictEqual(faults(seen({ ended: undefined, last: working })), ["stuck"])
  })

  it("finds what ended twice, became another, or ran again", () => {
    assert.deepStrictEqual(faults(seen(), event("Completed"), event("Failed")), ["twice"])
    assert.deepStrictEqual(faults(seen({ last: completed("a b d") })), ["twice"])
    const once = completed("once")
    assert.deepStrictEqual(faults(seen({ tool: "once", ended: once, last: once }), run, run), ["twice"])
  })

  it("finds steps that a later attempt repeats, and not what a late attempt still does", () => {
    assert.deepStrictEqual(faults(seen(), begin("1"), kept("1"), begin("1", 2)), ["repeated"])
    assert.deepStrictEqual(faults(seen(), begin("1"), begin("1", 2), kept("1", 2), begin("1")), [])
  })

  it("finds answers that were not heard, and ends that cannot be", () => {
    const other = completed("something else")
    assert.deepStrictEqual(faults(seen({ tool: "ask", answered: "heard", ended: other, last: other })), ["unheard"])
    const cancelled: View = { taskId, status: "cancelled" }
    const ends: ReadonlyArray<Partial<Verdict.Seen>> = [
      { ended: cancelled, last: cancelled },
      { ended: failed("no"), last: failed("no") },
      { ended: completed("a a a"), last: completed("a a a") },
      { tool: "ask", ended: failed("no"), last: failed("no") },
      { tool: "once", ended: failed("no"), last: failed("no") },
      { tool: "deadly", ended: completed("alive"), last: completed("alive") }
    ]
    for (const end of ends) assert.deepStrictEqual(faults(seen(end)), ["wrong"])
  })
})
