import { moves, newTasks, play } from "@effect-mcp-tasks/testing/TaskArbitrary"
import { after, answered, asked, inPhase, started } from "@effect-mcp-tasks/testing/TaskSpec"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { Task, TaskWire } from "../src/index.ts"
import { checkedStep } from "./checkedStep.ts"

interface Message {
  readonly method?: string
  readonly params?: object
  readonly result?: object
  readonly error?: object
}

const fixture = (name: string) => JSON.parse(readFileSync(new URL(`fixtures/${name}`, import.meta.url), "utf8"))
const examples: ReadonlyArray<{ readonly under: string; readonly message: Message }> = fixture(
  "ext-tasks.examples.json"
)
const schema = fixture("ext-tasks.schema.json")

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(schema)
const assertValid = (name: string, value: unknown) => {
  const valid = ajv.validate(`${schema.$id}#/$defs/${name}`, value)
  assert.isTrue(valid, `${name}: ${ajv.errorsText()} in ${JSON.stringify(value)}`)
}

const head = TaskWire.encodeHead
const resultOf = (task: Task.Task) => task.status === "completed" ? task.result : undefined
const answer = (task: Task.Task) => TaskWire.getTaskResult(head(task), resultOf(task))

describe("the projections of every task in every history", () => {
  it.prop("follow the schema, and agree with each other [E4, E7, E9, E10]", [newTasks, moves], ([task, played]) => {
    for (const now of play(task, played, checkedStep)) {
      const detailed = Schema.encodeSync(TaskWire.DetailedTask)(TaskWire.detailedTask(now))
      assertValid("DetailedTask", detailed)

      const polled = JSON.parse(answer(now))
      assertValid("GetTaskResult", polled)
      assert.deepStrictEqual(polled, { resultType: "complete", ...detailed })

      const notified = JSON.parse(TaskWire.notificationParams(head(now), resultOf(now), 7))
      assertValid("TaskStatusNotificationParams", notified)
      assert.deepStrictEqual(notified, { _meta: { [TaskWire.subscriptionIdKey]: 7 }, ...detailed })

      const created = JSON.parse(TaskWire.createTaskResult({ task: now, version: 1 }))
      assertValid("CreateTaskResult", created)
      assert.containsAllKeys(created, ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"])
      for (const member of ["inputRequests", "result", "error"]) assert.notProperty(created, member)

      assert.notMatch(answer(now), /[\n\r]/)
      assert.deepStrictEqual(Schema.decodeUnknownSync(TaskWire.DetailedTask)(polled), TaskWire.detailedTask(now))
    }
  }, { arbitrary: { runs: 150 } })

  it("are exact texts", () => {
    const times = `"createdAt":"1970-01-01T00:16:40.000Z","lastUpdatedAt":"1970-01-01T00:16:40.001Z"`
    const rest = `${times},"ttlMs":60000,"pollIntervalMs":500`
    assert.strictEqual(head(inPhase.completed), `{"taskId":"task-1","status":"completed",${rest}}`)
    assert.strictEqual(
      answer(inPhase.completed),
      `{"resultType":"complete","taskId":"task-1","status":"completed",${rest},"result":{"content":[]}}`
    )
    assert.strictEqual(
      TaskWire.notificationParams(head(inPhase.cancelled), undefined, `"7"`),
      `{"_meta":{"io.modelcontextprotocol/subscriptionId":"\\"7\\""},"taskId":"task-1","status":"cancelled",${rest}}`
    )
    assert.strictEqual(
      TaskWire.createTaskResult({ task: { ...inPhase.failed, ttlMs: null }, version: 1 }),
      `{"resultType":"task","taskId":"task-1","status":"failed","statusMessage":"broken",${times},"ttlMs":null,` +
        `"pollIntervalMs":500}`
    )
    assert.include(head(inPhase.failed), `,"error":{"code":-32603,"message":"broken"}}`)
  })

  it("splice a result as it is, and never parse it", () => {
    assert.include(TaskWire.getTaskResult("{head}", "not JSON"), `head,"result":not JSON}`)
  })

  it("acknowledge", () => {
    assert.strictEqual(TaskWire.acknowledgement, `{"resultType":"complete"}`)
    assertValid("UpdateTaskResult", JSON.parse(TaskWire.acknowledgement))
    assertValid("CancelTaskResult", JSON.parse(TaskWire.acknowledgement))
  })
})

describe("input requests", () => {
  const keys = (text: string) => [...text.matchAll(/"([^"]+)":\{"method"/g)].map(([, key]) => key)

  it("appear in the order in which they were asked, numbers too", () => {
    const task = after(started, asked("b"), asked("2"), asked("a"), asked("1"))
    assert.deepStrictEqual(keys(head(task)), ["b", "2", "a", "1"])
  })
  it("appear while they are outstanding [E9]", () => {
    assert.deepStrictEqual(keys(head(after(started, asked("b"), asked("a"), answered("b")))), ["a"])
  })
  it("may have any key", () => {
    const task = after(started, asked("__proto__"), asked("constructor"))
    const { inputRequests } = JSON.parse(head(task))
    assert.deepStrictEqual(Object.keys(inputRequests), ["__proto__", "constructor"])
    const detailed = TaskWire.detailedTask(task)
    assert.isTrue(detailed.status === "input_required" && Object.hasOwn(detailed.inputRequests, "__proto__"))
    const params = { taskId: "t", inputResponses: JSON.parse(`{"__proto__":{"action":"decline"}}`) }
    const decoded = Schema.decodeUnknownSync(TaskWire.UpdateTaskParams)(params)
    assert.deepStrictEqual(Object.keys(decoded.inputResponses), ["__proto__"])
  })
})

/** What reads an example, by its shape; tools/call and the capabilities are not about tasks. */
const readerOf = ({ error, method, params, result }: Message) => {
  if (error !== undefined) return [Task.TaskError, error] as const
  if (method === "tasks/get") return [TaskWire.GetTaskParams, params] as const
  if (method === "tasks/update") return [TaskWire.UpdateTaskParams, params] as const
  if (method === "notifications/tasks") return [TaskWire.TaskStatusNotificationParams, params] as const
  if (result === undefined || "capabilities" in result || method !== undefined) return undefined
  if (!("taskId" in result)) return [TaskWire.UpdateTaskResult, result] as const
  const handle = "resultType" in result && result.resultType === "task" && !("error" in result) && !("result" in result)
  return [handle ? TaskWire.CreateTaskResult : TaskWire.GetTaskResult, result] as const
}

/** Our instants always have milliseconds. */
const exact = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (_, member) =>
    typeof member === "string" && /^\d{4}-.*:\d\dZ$/.test(member) ? member.replace("Z", ".000Z") : member)

describe("the examples of the specification", () => {
  const read = examples.flatMap(({ message, under }) => {
    const reader = readerOf(message)
    return reader === undefined ? [] : [{ under, reader }]
  })

  it("are all read but for two calls and two declarations", () => {
    assert.deepStrictEqual([examples.length, read.length], [25, 21])
  })
  for (const [index, { reader: [codec, value], under }] of read.entries()) {
    it(`round-trip: ${under} (${index})`, () => {
      const roundTrip = Schema.decodeUnknownSync(codec as Schema.Codec<unknown, unknown>)(value)
      assert.deepStrictEqual(Schema.encodeSync(codec as Schema.Codec<unknown, unknown>)(roundTrip), exact(value))
    })
  }
})

describe("decoding", () => {
  const instant = "2025-11-25T10:30:00Z"
  const wire = { taskId: "t", status: "working", createdAt: instant, lastUpdatedAt: instant, ttlMs: null }
  const decode = Schema.decodeUnknownSync(TaskWire.GetTaskResult)

  it("ignores members that it does not know, and takes a missing resultType", () => {
    assert.deepStrictEqual(decode({ ...wire, later: [1] }), {
      ...wire,
      status: "working",
      createdAt: Date.UTC(2025, 10, 25, 10, 30),
      lastUpdatedAt: Date.UTC(2025, 10, 25, 10, 30)
    })
  })
  it("refuses what the schema refuses", () => {
    const wrong = [
      { ...wire, status: "done" },
      { ...wire, createdAt: "yesterday" },
      { ...wire, ttlMs: 1.5 },
      { ...wire, ttlMs: undefined },
      { ...wire, status: "completed" },
      { ...wire, status: "input_required" },
      { ...wire, status: "failed", error: { message: "no code" } }
    ]
    for (const value of wrong) assert.throws(() => decode(value))
    assert.throws(() => Schema.decodeUnknownSync(TaskWire.UpdateTaskParams)({ taskId: "t", inputResponses: { a: 1 } }))
    assert.throws(() => Schema.decodeUnknownSync(TaskWire.CreateTaskResult)({ ...wire, resultType: "complete" }))
  })
  it("reads a filter", () => {
    const decodeFilter = Schema.decodeUnknownSync(TaskWire.TaskSubscriptionNotifications)
    assert.deepStrictEqual(decodeFilter({ taskIds: ["a"], toolsListChanged: true }), { taskIds: ["a"] })
    assert.throws(() => decodeFilter({ taskIds: [1] }))
  })
})

describe("instants", () => {
  const decode = Schema.decodeUnknownSync(TaskWire.WireInstant)
  const encode = Schema.encodeSync(TaskWire.WireInstant)

  it.prop("survive the wire, whatever they are", [Schema.Int], ([instant]) => {
    assert.strictEqual(decode(encode(instant)), instant + 0)
  }, { arbitrary: { runs: 2000 } })

  it.prop("are written as Date writes them", [
    Schema.Int.check(Schema.isBetween({ minimum: -8.64e15, maximum: 8.64e15 }))
  ], ([instant]) => {
    assert.strictEqual(encode(instant), new Date(instant).toISOString())
  }, { arbitrary: { runs: 2000 } })

  it("have ends", () => {
    for (const [instant, text] of [
      [Number.MAX_SAFE_INTEGER, "+287396-10-12T08:59:00.991Z"],
      [Number.MIN_SAFE_INTEGER, "-283457-03-21T15:00:59.009Z"],
      [-62_167_219_200_000, "0000-01-01T00:00:00.000Z"],
      [-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"],
      [-1, "1969-12-31T23:59:59.999Z"]
    ] as const) {
      assert.strictEqual(encode(instant), text)
      assert.strictEqual(decode(text), instant)
    }
  })
  it("are read as other servers write them", () => {
    const expected = Date.UTC(2025, 10, 25, 10, 30, 0, 120)
    for (const text of [
      "2025-11-25T10:30:00.12Z",
      "2025-11-25T10:30:00.120999+00:00",
      "2025-11-25T12:30:00,12+02:00",
      "2025-11-25T05:00:00.12-0530",
      "2025-11-25t10:30:00.12z",
      "2025-11-25 10:30:00.12"
    ]) assert.strictEqual(decode(text), expected, text)
    assert.strictEqual(decode("2016-12-31T23:59:60Z"), Date.UTC(2017, 0, 1))
  })
  it("are refused where there is no such day or hour", () => {
    for (const text of [
      "1",
      "",
      "2025-01-01",
      "2025-02-29T00:00:00Z",
      "2025-13-01T00:00:00Z",
      "2025-00-10T00:00:00Z",
      "2025-01-00T00:00:00Z",
      "2025-01-01T24:00:00Z",
      "2025-01-01T00:60:00Z",
      "2025-01-01T00:00:61Z",
      "2025-01-01T00:00:00+24:00",
      "2025-01-01T00:00:00+00:60",
      "+999999-01-01T00:00:00Z"
    ]) assert.throws(() => decode(text), undefined, undefined, text)
  })
})
