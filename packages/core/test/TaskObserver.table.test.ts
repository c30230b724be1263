import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema } from "effect"
import { TaskObserver, TaskView } from "../src/index.ts"

const { defaultLimits: limits } = TaskObserver

const json = (fields: Schema.JsonObject = {}): Schema.JsonObject => ({
  resultType: "complete",
  taskId: "t1",
  status: "working",
  createdAt: "2026-07-28T10:00:00.000Z",
  lastUpdatedAt: "2026-07-28T10:00:00.000Z",
  ttlMs: 3_600_000,
  ...fields
})
const seen = (fields: Schema.JsonObject = {}): TaskView.TaskView => Result.getOrThrow(TaskView.read(json(fields)))
const second = (s: number) => `2026-07-28T10:00:${String(s).padStart(2, "0")}.000Z`
const asks = (keys: ReadonlyArray<string>, fields: Schema.JsonObject = {}) =>
  seen({
    status: "input_required",
    inputRequests: Object.fromEntries(keys.map((key) => [key, { method: "elicitation/create", params: { key } }])),
    ...fields
  })
const begun = (fields: Schema.JsonObject = {}, at = 0) => TaskObserver.make({ view: seen(fields), at })
const moment = (at: number, jitter = 0, listening = false) => ({ at, jitter, listening })
const action = (observer: TaskObserver.TaskObserver, at = 0) => TaskObserver.next(observer, moment(at))[1]
const keysOf = (step: TaskObserver.Action) => step._tag === "Answer" ? step.questions.map(({ key }) => key) : undefined

describe("the time between two polls", () => {
  const hints: ReadonlyArray<readonly [name: string, hint: Schema.Json | undefined, waits: number]> = [
    ["a sane one", 5000, 5000],
    ["zero", 0, limits.minPollMs],
    ["minus zero", -0, limits.minPollMs],
    ["a fraction", 0.25, limits.minPollMs],
    ["negative", -1000, limits.minPollMs],
    ["2^31, which overflows a timer", 2 ** 31, limits.maxPollMs],
    ["1e15", 1e15, limits.maxPollMs],
    ["1e999, which reads as infinite", JSON.parse("1e999"), limits.maxPollMs],
    ["a number as text", "4000", 4000],
    ["a huge number as text", "1e15", limits.maxPollMs],
    ["text", "soon", limits.defaultPollMs],
    ["blank text", " ", limits.defaultPollMs],
    ["NaN as text", "NaN", limits.defaultPollMs],
    ["null", null, limits.defaultPollMs],
    ["true", true, limits.defaultPollMs],
    ["an array", [500], limits.defaultPollMs],
    ["an object", {}, limits.defaultPollMs],
    ["absent", undefined, limits.defaultPollMs]
  ]
  it.each(hints)("is bounded when the hint is %s", (_, hint, ms) => {
    const fields = hint === undefined ? {} : { pollIntervalMs: hint }
    assert.deepStrictEqual(action(begun(fields)), { _tag: "Wait", ms })
    const created = Result.getOrThrow(TaskView.readCreated(json({ resultType: "task", ...fields })))
    assert.deepStrictEqual(action(TaskObserver.make({ view: created, at: 0 })), { _tag: "Wait", ms })
  })

  it("follows the latest hint, and keeps it where the server gives none", () => {
    const slower = TaskObserver.observe(begun({ pollIntervalMs: 500 }), seen({ pollIntervalMs: 30_000 }), 0)
    assert.deepStrictEqual(action(slower), { _tag: "Wait", ms: 30_000 })
    assert.deepStrictEqual(action(TaskObserver.observe(slower, seen(), 0)), { _tag: "Wait", ms: 30_000 })
    const faster = TaskObserver.observe(slower, seen({ pollIntervalMs: 700 }), 0)
    assert.deepStrictEqual(action(faster), { _tag: "Wait", ms: 700 })
  })

  it("counts from when the server was last heard", () => {
    assert.deepStrictEqual(action(begun({ pollIntervalMs: 1000 }, 5000), 5400), { _tag: "Wait", ms: 600 })
    assert.deepStrictEqual(action(begun({ pollIntervalMs: 1000 }, 5000), 9000), { _tag: "Wait", ms: 0 })
  })

  it("is no longer than the interval when the client's clock is set back", () => {
    assert.deepStrictEqual(action(begun({ pollIntervalMs: 1000 }, 1_000_000), 0), { _tag: "Wait", ms: 1000 })
  })

  it.each([[0, 1000], [0.5, 1100], [1, 1200], [7, 1200], [-3, 1000], [Number.NaN, 1000]])(
    "is spread by jitter of %s and never shortened",
    (jitter, ms) => {
      const [, step] = TaskObserver.next(begun({ pollIntervalMs: 1000 }), moment(0, jitter))
      assert.deepStrictEqual(step, { _tag: "Wait", ms })
    }
  )

  it("is long while notifications arrive, unless the server asks for longer", () => {
    const [, step] = TaskObserver.next(begun({ pollIntervalMs: 1000 }), moment(0, 0, true))
    assert.deepStrictEqual(step, { _tag: "Wait", ms: limits.listeningPollMs })
    const [, longer] = TaskObserver.next(begun({ pollIntervalMs: 90_000 }), moment(0, 0, true))
    assert.deepStrictEqual(longer, { _tag: "Wait", ms: 90_000 })
  })
})

describe("questions [J6]", () => {
  it("are handed out once, whatever repeats them", () => {
    const first = TaskObserver.observe(begun(), asks(["a", "b"]), 10)
    const [asked, step] = TaskObserver.next(first, moment(10))
    assert.deepStrictEqual(keysOf(step), ["a", "b"])
    assert.strictEqual(TaskObserver.next(asked, moment(10))[1]._tag, "Wait")
    const repeated = TaskObserver.observe(asked, asks(["a", "b", "c"], { lastUpdatedAt: second(1) }), 20)
    const [, more] = TaskObserver.next(repeated, moment(20))
    assert.deepStrictEqual(keysOf(more), ["c"])
  })

  it("with the same text are two under two keys", () => {
    const same = { method: "elicitation/create", params: { message: "Sure?" } }
    const both = seen({ status: "input_required", inputRequests: { one: same, two: same } })
    assert.deepStrictEqual(keysOf(action(TaskObserver.observe(begun(), both, 0))), ["one", "two"])
  })

  it("that an earlier run has handled are not asked again, but its unanswered ones may be answered", () => {
    const keys = new Map([["a", "answered"], ["b", "asked"]] as const)
    const resumed = TaskObserver.make({ view: asks(["a", "b", "c"]), at: 0, keys })
    assert.deepStrictEqual(keysOf(action(resumed)), ["c"])
    assert.isFalse(TaskObserver.isAnswerable(resumed, "a"))
    assert.isTrue(TaskObserver.isAnswerable(resumed, "b"))
    assert.isFalse(TaskObserver.isAnswerable(resumed, "never issued"))
  })

  it("stay answered while the server still shows them after its acknowledgement", () => {
    const [asked] = TaskObserver.next(TaskObserver.observe(begun(), asks(["a"]), 0), moment(0))
    const done = TaskObserver.answered(asked, "a", 5)
    for (let poll = 1; poll <= 5; poll++) {
      const again = TaskObserver.observe(done, asks(["a"], { lastUpdatedAt: second(poll) }), poll)
      assert.strictEqual(action(again, poll)._tag, "Wait")
      assert.isFalse(TaskObserver.isAnswerable(again, "a"))
    }
  })

  it("are no longer answerable once withdrawn, or once the task has ended", () => {
    const [asked] = TaskObserver.next(TaskObserver.observe(begun(), asks(["a"]), 0), moment(0))
    assert.isTrue(TaskObserver.isAnswerable(asked, "a"))
    const working = seen({ lastUpdatedAt: second(1) })
    assert.isFalse(TaskObserver.isAnswerable(TaskObserver.observe(asked, working, 1), "a"))
    assert.isFalse(TaskObserver.isAnswerable(TaskObserver.gone(asked), "a"))
  })

  it("are asked even when the server's clock has stepped back", () => {
    const ahead = begun({ lastUpdatedAt: second(30) })
    const late = TaskObserver.observe(ahead, asks(["a"], { lastUpdatedAt: second(5) }), 1)
    assert.strictEqual(late.view, ahead.view)
    assert.deepStrictEqual(keysOf(action(late, 1)), ["a"])
  })

  it("may have keys that every object has", () => {
    const odd = JSON.parse(`{"taskId":"t1","status":"input_required","inputRequests":{"__proto__":{"method":"m"},
      "constructor":{"method":"m"},"toString":{"method":"m"},"1":{"method":"m"}}}`)
    const view = Result.getOrThrow(TaskView.read(odd))
    const keys = keysOf(action(TaskObserver.observe(begun(), view, 0)))
    assert.sameMembers([...keys ?? []], ["__proto__", "constructor", "toString", "1"])
  })
})

describe("the view", () => {
  const newest: ReadonlyArray<readonly [string, TaskView.TaskView, TaskView.TaskView, "first" | "second"]> = [
    ["an older one after a newer one", seen({ lastUpdatedAt: second(5) }), seen({ lastUpdatedAt: second(4) }), "first"],
    ["a newer one", seen({ lastUpdatedAt: second(4) }), seen({ lastUpdatedAt: second(5) }), "second"],
    ["working after input_required of the same instant", asks(["a"]), seen(), "first"],
    ["input_required after working of the same instant", seen(), asks(["a"]), "second"],
    ["a terminal one that is older", seen({ lastUpdatedAt: second(5) }), seen({ status: "cancelled" }), "second"],
    ["anything after a terminal one", seen({ status: "cancelled" }), seen({ lastUpdatedAt: second(9) }), "first"],
    [
      "a terminal one after another",
      seen({ status: "cancelled" }),
      seen({ status: "completed", result: {}, lastUpdatedAt: second(9) }),
      "first"
    ],
    ["one without a time", seen({ lastUpdatedAt: second(5) }), seen({ lastUpdatedAt: "yesterday" }), "second"],
    ["another task's", seen(), seen({ taskId: "t2", lastUpdatedAt: second(9) }), "first"]
  ]
  it.each(newest)("of %s", (_, first, then, wins) => {
    const { view } = TaskObserver.observe(TaskObserver.make({ view: first, at: 0 }), then, 1)
    assert.strictEqual(view, wins === "first" ? first : then)
  })

  it("ends the observation when it is terminal", () => {
    const failed = seen({ status: "failed", error: { code: -32603, message: "no", data: { a: 1 } } })
    const step: unknown = action(TaskObserver.observe(begun(), failed, 0))
    assert.deepStrictEqual(step, { _tag: "Done", outcome: { _tag: "Ended", view: failed } })
  })
})

describe("a task that does not end", () => {
  const done = (observer: TaskObserver.TaskObserver) => {
    const step = action(observer, observer.heardAt)
    return step._tag === "Done" ? step.outcome : undefined
  }
  const day = limits.stuckAfterMs

  it("is expired when the server does not know it (any more), but not when it has ended", () => {
    assert.deepStrictEqual(done(TaskObserver.gone(begun())), { _tag: "Expired" })
    const ended = TaskObserver.make({ view: seen({ status: "cancelled" }), at: 0 })
    assert.strictEqual(done(TaskObserver.gone(ended))?._tag, "Ended")
  })

  it("is expired when it is seen alive after its ttl, by the client's own clock [J7]", () => {
    const lives = { createdAt: "1999-01-01T00:00:00Z", ttlMs: 1000 }
    const last = 1000 + limits.ttlGraceMs
    const task = begun(lives)
    assert.isUndefined(done(TaskObserver.observe(task, seen(lives), last)))
    assert.deepStrictEqual(done(TaskObserver.observe(task, seen(lives), last + 1)), { _tag: "Expired" })
    assert.isUndefined(done(TaskObserver.observe(task, seen({ ...lives, ttlMs: 5000 }), last + 1)), "extended")
    assert.isUndefined(done(TaskObserver.observe(task, seen({ ...lives, ttlMs: null }), last + 1)), "unlimited")
    assert.isUndefined(done(TaskObserver.observe(task, seen({ ...lives, ttlMs: "?" }), last + 1)), "unreadable")
  })

  it("is asked for once more before it is given up, however long the client slept", () => {
    const slept = action(begun({ ttlMs: 1000, pollIntervalMs: 1000 }), 10 * day)
    assert.deepStrictEqual(slept, { _tag: "Wait", ms: 0 })
  })

  it("counts its ttl from when an earlier run first saw it", () => {
    const resumed = TaskObserver.make({ view: seen({ ttlMs: 1000 }), at: 10 * day, firstSeenAt: 0 })
    assert.deepStrictEqual(done(resumed), { _tag: "Expired" })
  })

  it("is stuck when nothing about it changes for too long", () => {
    const task = begun({ ttlMs: null })
    assert.isUndefined(done(TaskObserver.observe(task, seen({ ttlMs: null }), day - 1)))
    const stuck = TaskObserver.observe(task, seen({ ttlMs: null }), day)
    assert.deepStrictEqual(done(stuck), { _tag: "Stuck", idleMs: day })
    const touched = TaskObserver.observe(task, seen({ ttlMs: null, lastUpdatedAt: second(1) }), day)
    assert.isUndefined(done(touched), "a new time is a change")
    const spoke = TaskObserver.observe(task, seen({ ttlMs: null, statusMessage: "still here" }), day)
    assert.isUndefined(done(spoke), "a new message is a change")
  })

  it("is not stuck while its question is with the user, and is when its answer moves nothing", () => {
    const question = asks(["a"], { ttlMs: null })
    const [asked] = TaskObserver.next(TaskObserver.make({ view: question, at: 0 }), moment(0))
    assert.isUndefined(done(TaskObserver.observe(asked, question, 3 * day)))
    const said = TaskObserver.answered(asked, "a", 3 * day)
    assert.isUndefined(done(TaskObserver.observe(said, question, 4 * day - 1)))
    assert.deepStrictEqual(done(TaskObserver.observe(said, question, 4 * day)), { _tag: "Stuck", idleMs: day })
  })
})

describe("reading what a server sends", () => {
  it("lets a wrong resultType, unknown members and unknown statuses through", () => {
    const odd = TaskView.read(json({ resultType: "task", status: "paused", surprise: [1], statusMessage: 7 }))
    assert.deepStrictEqual(odd, Result.succeed(seen()))
    assert.isTrue(Result.isSuccess(TaskView.read({ taskId: "t" })), "every other member missing")
  })

  it("refuses only what cannot be gone on with", () => {
    for (const none of [undefined, null, 1, "t", [], {}, { taskId: 1 }, json({ taskId: null })]) {
      assert.deepStrictEqual(TaskView.read(none), Result.fail("a task without taskId"))
      assert.deepStrictEqual(TaskView.readCreated(none), Result.fail("a task without taskId"))
    }
    for (const result of [null, "done", [1]]) {
      const read = TaskView.read(json({ status: "completed", result }))
      assert.deepStrictEqual(read, Result.fail("a completed task without result"))
    }
  })

  it("keeps an error as it was, and makes one of rubbish", () => {
    const error = { code: -32050, message: "No rows", data: { table: "t" } }
    assert.deepStrictEqual(TaskView.readError({ ...error, extra: 1 }), error)
    for (const rubbish of [undefined, null, "boom", { code: "1" }, { code: 1.5, message: {} }]) {
      assert.deepStrictEqual(TaskView.readError(rubbish), { code: -32603, message: "The server gave no reason" })
    }
  })

  it("leaves out input requests that are none, and keeps methods it does not know", () => {
    const view = seen({
      status: "input_required",
      inputRequests: { a: null, b: { method: 1 }, c: { method: "future/ask", params: [1] }, d: { method: "m" } }
    })
    assert.deepStrictEqual(view.status === "input_required" && Array.from(view.inputRequests), [
      ["c", { method: "future/ask", params: undefined }],
      ["d", { method: "m", params: undefined }]
    ])
    assert.strictEqual(asks([], { inputRequests: "none" }).status, "input_required")
  })

  it("calls two views the same that look the same to a user", () => {
    assert.isTrue(TaskView.isSame(seen(), seen({ lastUpdatedAt: second(9), pollIntervalMs: 1, ttlMs: null })))
    assert.isFalse(TaskView.isSame(seen(), seen({ statusMessage: "half" })))
    assert.isFalse(TaskView.isSame(asks(["a"]), asks(["b"])))
    const completed = (n: number) => seen({ status: "completed", result: { n } })
    assert.isTrue(TaskView.isSame(completed(1), completed(1)))
    assert.isFalse(TaskView.isSame(completed(1), completed(2)))
    const failed = (code: number) => seen({ status: "failed", error: { code, message: "m" } })
    assert.isFalse(TaskView.isSame(failed(1), failed(2)))
    assert.isFalse(TaskView.isSame(seen(), seen({ taskId: "t2" })))
  })
})
