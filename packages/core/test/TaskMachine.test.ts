import {
  after,
  answered,
  asked,
  createdAt,
  given,
  inPhase,
  newTask,
  question,
  recorded,
  released,
  request,
  started,
  under,
  withdrawn
} from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Task, TaskMachine } from "../src/index.ts"
import type { TaskCommand } from "../src/index.ts"

const at = createdAt + 100
const attempt = 1
const late = createdAt + 60_000
const internal = (message: string) => ({ code: -32603, message })
const timedOut = internal("The task has expired before it ended")
const interrupted = internal("The tool was interrupted before it ended")
const notRepeatable = internal("The server stopped while the tool was running, and the tool must not be run twice")
const failed = (error: Task.TaskError, when = at, ttlMs = 60_000) =>
  ({ _tag: "Failed", at: when, ttlMs, error } as const)
const cancelled = { _tag: "Cancelled", at, ttlMs: 60_000 } as const
const expired = failed(timedOut, late, 70_000)
const restarted = { _tag: "Started", at, attempt: 2 } as const
const lost = { _tag: "AttemptLost", at } as const
const response = { action: "accept", content: { name: "Ada" } }

describe("create", () => {
  it("makes a task that nobody has started", () => {
    const { at: _, ...rest } = newTask
    assert.deepStrictEqual(TaskMachine.create(newTask), {
      ...rest,
      status: "working",
      createdAt,
      lastUpdatedAt: createdAt,
      attempt: 0,
      lostAttempts: 0,
      questions: [],
      steps: [],
      running: false,
      cancelRequested: false
    })
  })
})

describe("Start", () => {
  const start = { _tag: "Start", at } as const
  it("gives out the next attempt", () => given().when(start).yields({ _tag: "Started", at, attempt: 1 }))
  it("takes up a task that was handed back", () => given(started, released).when(start).yields(restarted))
  it("takes up a task that waits for its client", () => given(inPhase.unattended).when(start).yields(restarted))
  it("fails a task that is due", () => {
    given().when({ _tag: "Start", at: late }).yields(expired)
    given(inPhase.cancelling).when({ _tag: "Start", at: late }).yields(expired)
  })
  it("cancels a task that was to be cancelled", () => given(inPhase.cancelling).when(start).yields(cancelled))
  it("runs a lost attempt again", () => given(started).when(start).yields(lost, restarted))
  it("fails a lost attempt that must not be repeated", () =>
    given(under(after(started), { recovery: "fail" })).when(start).yields(lost, failed(notRepeatable)))
  it("starts a task that must not be repeated once", () =>
    given(under(after(), { recovery: "fail" })).when(start).yields({ _tag: "Started", at, attempt: 1 }))
  it("follows the attempt that it names, and no other", () => {
    given().when({ ...start, after: 0 }).yields({ _tag: "Started", at, attempt: 1 })
    given(started).when({ ...start, after: 1 }).yields(lost, restarted)
    given(started).when({ ...start, after: 0 }).refuses("StaleAttempt")
    given(started, released).when({ ...start, after: 0 }).refuses("StaleAttempt")
  })
  it("names its worker, and forgets the one before", () => {
    given().when({ ...start, worker: "a" }).yields({ _tag: "Started", at, attempt: 1, worker: "a" })
    const next = (task: Task.Task, command: TaskCommand.TaskCommand) =>
      Result.getOrThrow(TaskMachine.step(task, command))
    const task = next(after(), { ...start, worker: "a" })
    assert.strictEqual(task.worker, "a")
    assert.strictEqual(next(task, { ...start, worker: "b" }).worker, "b")
    assert.isFalse("worker" in next(task, start))
  })
})

describe("Report", () => {
  const report = { _tag: "Report", at, attempt, message: "half way" } as const
  const reported = { _tag: "Reported", at, message: "half way" } as const
  it("is shown", () => given(started).when(report).yields(reported))
  it("shows nothing twice", () => given(started, reported).when(report).yields())
})

describe("Ask", () => {
  const ask = { _tag: "Ask", at, attempt, ...question("name") } as const
  const requested = { _tag: "InputRequested", at, ...question("name") } as const
  it("asks the client", () => given(started).when(ask).yields(requested))
  it("attaches to the same request", () => given(started, asked("name")).when(ask).yields())
  it("finds the answer", () => given(started, asked("name"), answered("name")).when(ask).yields())
  it("refuses a withdrawn key, which the client may have answered already, and grants another", () => {
    given(started, asked("name"), withdrawn("name")).when(ask).refuses("KeyWithdrawn")
    given(started, asked("first"), withdrawn("first")).when(ask).yields(requested)
    given(under(after(started, asked("first"), withdrawn("first")), { maxQuestions: 1 })).when(ask)
      .refuses("TooManyQuestions")
  })
  it("takes a request for the same whatever the order of its members", () => {
    const params = Object.fromEntries(Object.entries(request("name").params ?? {}).toReversed())
    given(started, asked("name")).when({ ...ask, request: { params, method: "elicitation/create" } }).yields()
  })
  it("refuses another request under a key, whatever became of the first [F1]", () => {
    const other = { ...ask, request: request("other") }
    given(started, asked("name")).when(other).refuses("KeyReused")
    given(started, asked("name"), answered("name")).when(other).refuses("KeyReused")
    given(started, asked("name")).when({ ...ask, request: { ...request("name"), method: "sampling/createMessage" } })
      .refuses("KeyReused")
    given(started, asked("name"), withdrawn("name")).when(other).refuses("KeyReused")
  })
  it("refuses a key too many", () =>
    given(started, asked("a"), answered("a"), asked("b")).when(ask).refuses("TooManyQuestions"))
  it("cancels a task that was to be cancelled", () => given(inPhase.cancelling).when(ask).yields(cancelled))
})

describe("Withdraw", () => {
  const withdraw = { _tag: "Withdraw", at, attempt, key: "name" } as const
  it("gives up a question", () =>
    given(started, asked("name")).when(withdraw).yields({ _tag: "InputWithdrawn", at, key: "name" }))
  it("leaves alone what is answered, withdrawn or was never asked", () => {
    given(started, asked("name"), answered("name")).when(withdraw).yields()
    given(started, asked("name"), withdrawn("name")).when(withdraw).yields()
    given(started, asked("b")).when(withdraw).yields()
  })
})

describe("Answer", () => {
  const answer = (...keys: ReadonlyArray<string>) =>
    ({ _tag: "Answer", at, responses: keys.map((key) => ({ key, response })) } as const)
  const taken = (key: string, ...keys: ReadonlyArray<string>) =>
    ({
      _tag: "InputAnswered",
      at,
      responses: [{ key, response }, ...keys.map((more) => ({ key: more, response }))]
    } as const)
  it("answers what is outstanding", () => given(started, asked("name")).when(answer("name")).yields(taken("name")))
  it("answers where no worker is", () => given(inPhase.unattended).when(answer("name")).yields(taken("name")))
  it("answers some", () => given(started, asked("a"), asked("b")).when(answer("b")).yields(taken("b")))
  it("answers several", () => given(started, asked("a"), asked("b")).when(answer("b", "a")).yields(taken("b", "a")))
  it("ignores keys that are answered, withdrawn or unknown, and takes the rest [F3]", () => {
    given(started, asked("a"), answered("a")).when(answer("a")).yields()
    given(started, asked("a"), withdrawn("a")).when(answer("a")).yields()
    given(started).when(answer("a", "__proto__")).yields()
    given(started, asked("a")).when(answer("x", "a")).yields(taken("a"))
  })
  it("takes the first of two answers to one key", () =>
    given(started, asked("a")).when({
      _tag: "Answer",
      at,
      responses: [{ key: "a", response }, { key: "a", response: { action: "decline" } }]
    }).yields(taken("a")))
})

describe("RecordStep", () => {
  const record = { _tag: "RecordStep", at, attempt, name: "fetch", value: { b: 1, a: [null] } } as const
  const stored = { _tag: "StepRecorded", at, name: "fetch", value: { b: 1, a: [null] } } as const
  it("remembers", () => given(started).when(record).yields(stored))
  it("remembers the same once, whatever the order of its members", () =>
    given(started, stored).when({ ...record, value: { a: [null], b: 1 } }).yields())
  it("refuses another value under a name", () =>
    given(started, recorded("fetch")).when({ ...record, value: 2 }).refuses("StepReused"))
  it("compares values whatever their keys", () => {
    const [own, proto] = [`{"~effect/Equal":1,"toString":2}`, `{"__proto__":{"a":1}}`].map((text) => JSON.parse(text))
    for (const value of [own, proto]) {
      const known = { ...stored, value }
      given(started, known).when({ ...record, value: JSON.parse(JSON.stringify(value)) }).yields()
      for (const other of [{}, null, [], [value], { a: 1, b: 2 }, { ["__proto__"]: { a: 2 } }]) {
        given(started, known).when({ ...record, value: other }).refuses("StepReused")
      }
    }
    for (const [value, other] of [[[1, 2], [1]], [[1], [1, 2]], [[1], [2]], [[], {}], [{}, []], [null, {}], ["1", 1]]) {
      given(started, { ...stored, value: value ?? null }).when({ ...record, value: other ?? null })
        .refuses("StepReused")
    }
  })
  it("refuses a step too many", () =>
    given(started, recorded("a"), recorded("b")).when(record).refuses("TooManySteps"))
  it("knows a step of a full journal", () => given(started, recorded("a"), stored).when(record).yields())
})

describe("Extend", () => {
  const extend = (ttlMs: number) => ({ _tag: "Extend", at, attempt, ttlMs } as const)
  it("counts from now", () => given(started).when(extend(60_000)).yields({ _tag: "Extended", at, ttlMs: 60_100 }))
  it("never shortens", () => {
    given(started).when(extend(59_900)).yields()
    given(started).when(extend(0)).yields()
  })
  it("leaves a life without end alone", () => given({ ...inPhase.running, ttlMs: null }).when(extend(1e9)).yields())
  it("grants the longest life to a wish beyond it", () =>
    given(started).when(extend(Number.MAX_SAFE_INTEGER))
      .yields({ _tag: "Extended", at, ttlMs: Number.MAX_SAFE_INTEGER }))
})

describe("the end of a handler", () => {
  const complete = { _tag: "Complete", at, attempt, result: `{"content":[]}`, isError: true } as const
  const stop = { _tag: "Stop", at, attempt } as const
  const release = { _tag: "Release", at, attempt } as const
  const completed = { _tag: "Completed", at, ttlMs: 60_000, result: `{"content":[]}`, isError: true } as const
  it("completes", () => given(started).when(complete).yields(completed))
  it("completes although questions are open, and although it was to be cancelled", () => {
    given(inPhase.parked).when(complete).yields(completed)
    given(inPhase.cancelling).when(complete).yields(completed)
  })
  it("fails", () =>
    given(started).when({ _tag: "Fail", at, attempt, error: notRepeatable }).yields(failed(notRepeatable)))
  it("is a cancel where the client asked for it, and a fault elsewhere", () => {
    given(inPhase.cancelling).when(stop).yields(cancelled)
    given(started).when(stop).yields(failed(interrupted))
  })
  it("hands the task back", () => {
    given(started).when(release).yields({ _tag: "Released", at })
    given(inPhase.parked).when(release).yields({ _tag: "Released", at })
    given(under(inPhase.running, { recovery: "fail" })).when(release).yields(failed(notRepeatable))
    given(inPhase.cancelling).when(release).yields(cancelled)
    given(under(inPhase.cancelling, { recovery: "fail" })).when(release).yields(cancelled)
  })
})

describe("Cancel", () => {
  const cancel = { _tag: "Cancel", at } as const
  it("ends what does not run or waits", () => {
    given().when(cancel).yields(cancelled)
    given(inPhase.parked).when(cancel).yields(cancelled)
    given(inPhase.unattended).when(cancel).yields(cancelled)
  })
  it("asks what runs to stop, once", () => {
    given(started).when(cancel).yields({ _tag: "CancelRequested", at })
    given(inPhase.cancelling).when(cancel).yields()
  })
})

describe("Expire", () => {
  it("fails what is due", () => given(started).when({ _tag: "Expire", at: late }).yields(expired))
  it("is refused before", () => given(started).when({ _tag: "Expire", at: late - 1 }).refuses("NotDue"))
  it("is refused where life has no end", () =>
    given({ ...inPhase.running, ttlMs: null }).when({ _tag: "Expire", at: late }).refuses("NotDue"))
})

describe("time", () => {
  it("dates no event before the last one", () => {
    const last = createdAt + 1000
    const due = { ttlMs: 50, lastUpdatedAt: last }
    const cases: ReadonlyArray<readonly [Task.Task, TaskCommand.TaskCommand]> = [
      [inPhase.queued, { _tag: "Start", at }],
      [inPhase.cancelling, { _tag: "Start", at }],
      [inPhase.running, { _tag: "Report", at, attempt, message: "half way" }],
      [inPhase.running, { _tag: "Ask", at, attempt, ...question("name") }],
      [inPhase.parked, { _tag: "Answer", at, responses: [{ key: "name", response }] }],
      [inPhase.running, { _tag: "RecordStep", at, attempt, name: "fetch", value: 1 }],
      [inPhase.running, { _tag: "Extend", at, attempt, ttlMs: 90_000 }],
      [inPhase.running, { _tag: "Cancel", at }],
      [{ ...inPhase.running, ...due }, { _tag: "Expire", at }],
      [{ ...inPhase.queued, ...due }, { _tag: "Start", at }]
    ]
    for (const [task, command] of cases) {
      const events = Result.getOrThrow(TaskMachine.decide({ ...task, lastUpdatedAt: last }, command))
      assert.deepStrictEqual(events.map((event) => event.at), [last], command._tag)
    }
    given({ ...inPhase.running, lastUpdatedAt: last }).when({ _tag: "Extend", at, attempt, ttlMs: 60_000 })
      .yields({ _tag: "Extended", at: last, ttlMs: 61_000 })
  })
  it("raises the life of an outcome to the policy's", () =>
    given(started).when({ _tag: "Stop", at: late, attempt }).yields(failed(interrupted, late, 70_000)))
  it("leaves a life without end to an outcome", () =>
    given({ ...inPhase.running, ttlMs: null }).when({ _tag: "Stop", at, attempt })
      .yields({ ...failed(interrupted), ttlMs: null }))
  it("tells the deadline", () => {
    assert.strictEqual(Task.deadline(inPhase.running), late)
    assert.isUndefined(Task.deadline({ ...inPhase.running, ttlMs: null }))
    assert.isTrue(Task.isDue(inPhase.running, late))
    assert.isFalse(Task.isDue(inPhase.running, late - 1))
    assert.isFalse(Task.isDue({ ...inPhase.running, ttlMs: null }, late))
  })
})

describe("evolve", () => {
  const reported = { _tag: "Reported", at, message: "half way" } as const
  const next = (task: Task.Task, command: TaskCommand.TaskCommand) => Result.getOrThrow(TaskMachine.step(task, command))
  const running = inPhase.running as Task.WorkingTask
  const { cancelRequested: _, running: __, ...kept } = running
  const shown = next(inPhase.running, { _tag: "Report", at, attempt, message: "half way" })
  const ended = { ...kept, lastUpdatedAt: at, ttlMs: 60_000 }

  it("shows a message", () => {
    assert.deepStrictEqual(shown, { ...running, lastUpdatedAt: at, statusMessage: "half way" })
  })
  it("counts lost attempts", () => {
    assert.deepStrictEqual(next(inPhase.running, { _tag: "Start", at }), { ...running, attempt: 2, lostAttempts: 1 })
    assert.deepStrictEqual(after(started, lost), { ...running, running: false, lostAttempts: 1 })
  })
  it("hands back", () =>
    assert.deepStrictEqual(next(inPhase.parked, { _tag: "Release", at, attempt }), {
      ...(inPhase.parked as Task.InputRequiredTask),
      running: false
    }))
  it("keeps steps in order", () => assert.deepStrictEqual(after(started, recorded("a"), recorded("b")).steps, [
    { name: "a", value: 1 },
    { name: "b", value: 1 }
  ]))
  it("extends", () =>
    assert.deepStrictEqual(next(inPhase.running, { _tag: "Extend", at, attempt, ttlMs: 90_000 }), {
      ...running,
      lastUpdatedAt: at,
      ttlMs: 90_100
    }))
  it("asks, keeps the answer, and works on", () => {
    const parked = next(inPhase.running, { _tag: "Ask", at, attempt, ...question("name") })
    assert.deepStrictEqual(parked, {
      ...kept,
      status: "input_required",
      running: true,
      lastUpdatedAt: at,
      questions: [{ ...question("name"), state: "outstanding" }]
    })
    assert.deepStrictEqual(next(parked, { _tag: "Answer", at: at + 5, responses: [{ key: "name", response }] }), {
      ...running,
      lastUpdatedAt: at + 5,
      questions: [{ ...question("name"), state: "answered", response }]
    })
  })
  it("withdraws one question for good, and keeps its place", () => {
    const gone = after(started, asked("a"), asked("b"), withdrawn("a"))
    assert.deepStrictEqual(gone.questions.map(({ key, state }) => `${key} ${state}`), ["a withdrawn", "b outstanding"])
    assert.strictEqual(gone.status, "input_required")
    const again = after(started, asked("a"), asked("b"), withdrawn("a"), asked("c"))
    assert.deepStrictEqual(Task.outstanding(again).map(({ key }) => key), ["b", "c"])
  })
  it("completes, without what belonged to the work", () =>
    assert.deepStrictEqual(next(shown, { _tag: "Complete", at, attempt, result: "{}", isError: true }), {
      ...ended,
      lastUpdatedAt: at + 1,
      status: "completed",
      result: "{}",
      isError: true
    }))
  it("fails with its message", () =>
    assert.deepStrictEqual(next(shown, { _tag: "Stop", at: at + 9, attempt }), {
      ...ended,
      lastUpdatedAt: at + 9,
      status: "failed",
      statusMessage: interrupted.message,
      error: interrupted
    }))
  it("cancels, and leaves no question open", () =>
    assert.deepStrictEqual(next(inPhase.parked, { _tag: "Cancel", at }), {
      ...ended,
      status: "cancelled",
      questions: [{ ...question("name"), state: "withdrawn" }]
    }))
  it("keeps the wish to stop", () =>
    assert.deepStrictEqual(next(inPhase.running, { _tag: "Cancel", at }), { ...running, cancelRequested: true }))
  it("is total: what no command leads to changes nothing, or nothing but itself", () => {
    assert.strictEqual(TaskMachine.evolve(inPhase.parked, { _tag: "CancelRequested", at }), inPhase.parked)
    for (const ended of [inPhase.completed, inPhase.failed, inPhase.cancelled]) {
      for (const event of [started, reported, asked("name"), released, cancelled]) {
        assert.strictEqual(TaskMachine.evolve(ended, event), ended)
      }
    }
    const twice = TaskMachine.evolve(after(started, asked("a"), answered("a")), answered("a"))
    assert.deepStrictEqual(twice.questions, after(started, asked("a"), answered("a")).questions)
    const kept = TaskMachine.evolve(after(started, asked("a"), answered("a")), withdrawn("a"))
    assert.strictEqual(kept.questions[0]?.state, "answered")
    for (const spent of [after(started, asked("a"), answered("a")), after(started, asked("a"), withdrawn("a"))]) {
      assert.strictEqual(TaskMachine.evolve(spent, asked("a")), spent)
    }
    const wished = TaskMachine.evolve(inPhase.cancelling, withdrawn("a"))
    assert.isTrue(wished.status === "working" && wished.cancelRequested)
  })
})
