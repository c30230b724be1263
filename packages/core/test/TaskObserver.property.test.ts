import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { TaskObserver, TaskView } from "../src/index.ts"

const { defaultLimits: limits } = TaskObserver

/** What a hostile or careless server may say, in any order. */
const Said = Schema.Struct({
  status: Schema.Literals(["working", "input_required", "completed", "failed", "cancelled", "paused"]),
  second: Schema.Literals([0, 1, 2, 3, 4]),
  keys: Schema.Array(Schema.Literals(["a", "b", "__proto__", "constructor"])),
  poll: Schema.Union([Schema.Json, Schema.Literals([0, -1, 2 ** 31, 1e15, "500", "soon"])]),
  message: Schema.optionalKey(Schema.Literals(["x", "y"]))
})
type Said = typeof Said.Type

const Event = Schema.Union([
  Schema.TaggedStruct("Poll", { said: Said }),
  Schema.TaggedStruct("Notification", { said: Said }),
  Schema.TaggedStruct("Answered", {}),
  Schema.TaggedStruct("Resumed", {}),
  Schema.TaggedStruct("Gone", {})
])
const events = Arbitrary.schema(Schema.Array(Event))
const jitters = Arbitrary.schema(Schema.Number)

const viewOf = ({ keys, message, poll, second, status }: Said): TaskView.TaskView =>
  Result.getOrThrow(TaskView.read({
    taskId: "t",
    status,
    lastUpdatedAt: `2026-07-28T10:00:0${second}Z`,
    ttlMs: null,
    pollIntervalMs: poll,
    ...(message === undefined ? {} : { statusMessage: message }),
    inputRequests: Object.fromEntries(keys.map((key) => [key, { method: "elicitation/create" }])),
    result: { content: [] },
    error: { code: -1, message: "no" }
  }))

const start = viewOf({ status: "working", second: 0, keys: [], poll: 1000 })

/** Plays events as a driver would, and checks every step. */
const play = (played: ReadonlyArray<typeof Event.Type>, jitter: number) => {
  let observer = TaskObserver.make({ view: start, at: 0 })
  let at = 0
  const asked: Array<string> = []
  const answered = new Set<string>()
  for (const event of played) {
    at += 1
    const before = observer
    if (event._tag === "Poll" || event._tag === "Notification") {
      observer = TaskObserver.observe(observer, viewOf(event.said), at)
    } else if (event._tag === "Gone") observer = TaskObserver.gone(observer)
    else if (event._tag === "Resumed") observer = TaskObserver.make({ view: observer.view, at, keys: observer.keys })
    else {
      for (const key of observer.keys.keys()) {
        if (!TaskObserver.isAnswerable(observer, key)) continue
        assert.isFalse(answered.has(key), "an answered key is answered again")
        answered.add(key)
        observer = TaskObserver.answered(observer, key, at)
      }
    }
    if (TaskView.isTerminal(before.view)) assert.strictEqual(observer.view, before.view)
    else if (!TaskView.isTerminal(observer.view)) {
      assert.isAtLeast(observer.view.lastUpdatedAt ?? 0, before.view.lastUpdatedAt ?? 0)
    }
    for (let turn = 0;; turn++) {
      const [next, action] = TaskObserver.next(observer, { at, jitter, listening: false })
      observer = next
      if (action._tag === "Answer") {
        assert.isBelow(turn, 1, "questions come in one step")
        asked.push(...action.questions.map(({ key }) => key))
        continue
      }
      if (action._tag === "Wait") {
        assert.isTrue(Number.isSafeInteger(action.ms))
        assert.isAtLeast(action.ms, 0)
        assert.isAtMost(action.ms, limits.maxPollMs * 1.2)
      } else assert.isTrue(observer.isGone || TaskView.isTerminal(observer.view))
      break
    }
  }
  return { observer, asked, answered }
}

describe("TaskObserver, whatever a server says in whatever order", () => {
  it.prop("hands out a key once, never goes back, always knows what to do", [events, jitters], ([played, jitter]) => {
    const { asked, answered, observer } = play(played, jitter)
    assert.strictEqual(new Set(asked).size, asked.length, "each key once")
    for (const key of answered) assert.include(asked, key)
    for (const key of asked) assert.isTrue(observer.keys.has(key))
  }, { arbitrary: { runs: 1500 } })

  it.prop("reads any JSON without throwing", [Arbitrary.schema(Schema.Json)], ([json]) => {
    const read = TaskView.read(json)
    if (Result.isSuccess(read)) assert.isTrue(TaskView.isSame(read.success, read.success))
    assert.isNumber(TaskView.readError(json).code)
  }, { arbitrary: { runs: 500 } })

  it.prop("shows the one end, whenever it arrives", [events], ([played]) => {
    const views = played.flatMap((event) => event._tag === "Poll" ? [viewOf(event.said)] : [])
    const end = viewOf({ status: "completed", second: 4, keys: [], poll: null })
    const begun = TaskObserver.make({ view: start, at: 0 })
    const last = (arrivals: ReadonlyArray<TaskView.TaskView>) =>
      arrivals.reduce((observer, view) => TaskObserver.observe(observer, view, 1), begun).view
    const live = views.filter((view) => !TaskView.isTerminal(view))
    assert.strictEqual(last([...live, end]), end)
    assert.strictEqual(last([end, ...live]), end)
    assert.strictEqual(last([...live.toReversed(), end, ...live]), end)
  }, { arbitrary: { runs: 300 } })
})
