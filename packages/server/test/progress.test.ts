/** What a plain call with a `progressToken` tells of itself, and what it does not. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Message, start } from "./TestListener.ts"
import { type Script, settle } from "./TestServer.ts"

type Server = Effect.Success<ReturnType<typeof start>>

type Report = readonly [message: string, done?: number, total?: number]

const reporting = (reports: ReadonlyArray<Report>): Script =>
  Effect.fnUntraced(function*(text) {
    const { report } = yield* CurrentTask.CurrentTask
    for (const [message, done, total] of reports) {
      yield* report(message, done === undefined ? undefined : { done, ...(total === undefined ? {} : { total }) })
    }
    return text
  })

const call = (server: Server, progressToken: string | number, name = "plain") =>
  server.stream("tools/call", { name, arguments: { text: "done" }, _meta: { progressToken } })

const progressOf = (messages: ReadonlyArray<typeof Message.Type>) =>
  messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params)

describe("progress", () => {
  it.effect("comes under the token as it was given, before the result, and not after it [A7, H7]", () =>
    Effect.gen(function*() {
      const server = yield* start({ script: reporting([["none yet", 0, 100], ["half", 50, 100], ["all", 100, 100]]) })
      for (const progressToken of ["token", "", 0, 7]) {
        const messages = yield* (yield* call(server, progressToken)).rest
        assert.deepStrictEqual(progressOf(messages), [
          { progressToken, progress: 0, total: 100, message: "none yet" },
          { progressToken, progress: 50, total: 100, message: "half" },
          { progressToken, progress: 100, total: 100, message: "all" }
        ])
        assert.deepStrictEqual(messages.at(-1)?.result?.["content"], [{ type: "text", text: "done" }])
        assert.strictEqual(messages.length, 4)
      }
    }))

  it.effect("counts reports that give no amount", () =>
    Effect.gen(function*() {
      const server = yield* start({ script: reporting([["first"], ["second"], ["a jump", 5.5], ["next"]]) })
      const messages = yield* (yield* call(server, "token")).rest
      assert.deepStrictEqual(progressOf(messages).map((params) => [params?.["progress"], params?.["message"]]), [
        [1, "first"],
        [2, "second"],
        [5.5, "a jump"],
        [6, "next"]
      ])
    }))

  it.effect("never stands still or goes back, and is a number [H7]", () =>
    Effect.gen(function*() {
      const reports: ReadonlyArray<Report> = [
        ["one", 1],
        ["again", 1],
        ["back", 0],
        ["none", NaN],
        ["beyond", Infinity],
        ["two", 2, NaN],
        ["three", 3, Infinity]
      ]
      const server = yield* start({ script: reporting(reports) })
      const messages = yield* (yield* call(server, "token")).rest
      assert.deepStrictEqual(progressOf(messages), [
        { progressToken: "token", progress: 1, message: "one" },
        { progressToken: "token", progress: 2, message: "two" },
        { progressToken: "token", progress: 3, message: "three" }
      ])
    }))

  it.effect("has messages of bounded length", () =>
    Effect.gen(function*() {
      const server = yield* start({ script: reporting([["x".repeat(10_000)]]), limits: { maxMessageLength: 10 } })
      const messages = yield* (yield* call(server, "token")).rest
      assert.deepStrictEqual(progressOf(messages).map((params) => params?.["message"]), ["x".repeat(10)])
    }))

  it.effect("does not hold up a handler whose client reads slowly: of what is unread, the oldest is dropped", () =>
    Effect.gen(function*() {
      const hasEnded = yield* Deferred.make<void>()
      const reports = Array.from({ length: 1_000 }, (_, index): Report => [`report ${index}`])
      const script: Script = (text) => Effect.tap(reporting(reports)(text), Deferred.succeed(hasEnded, undefined))
      const server = yield* start({ script })
      const reading = yield* call(server, "token")
      yield* settle
      assert.isTrue(yield* Deferred.isDone(hasEnded))
      const messages = yield* reading.rest
      const texts = progressOf(messages).map((params) => params?.["message"])
      assert.isAtMost(texts.length, 20)
      assert.strictEqual(texts.at(-1), "report 999")
      assert.isDefined(messages.at(-1)?.result)
    }))

  it.effect("comes ten times a second, after ten at once; of more the latest comes, and the last always [H7]", () =>
    Effect.gen(function*() {
      const script: Script = Effect.fnUntraced(function*(text) {
        const { report } = yield* CurrentTask.CurrentTask
        for (let index = 0; index < 2_000; index++) {
          yield* report(`report ${index}`)
          yield* Effect.sleep("1 milli")
        }
        // Nothing is reported for a while, and what was held back comes all the same.
        yield* report("pause")
        yield* Effect.sleep("1 second")
        for (let index = 0; index < 20_000; index++) yield* report(`more ${index}`)
        return text
      })
      const server = yield* start({ script })
      const reading = yield* call(server, "token")
      const messages = [...yield* reading.rest]
      while (messages.at(-1)?.result === undefined) {
        yield* TestClock.adjust("50 millis")
        messages.push(...yield* reading.rest)
      }
      const params = progressOf(messages)
      const texts = params.map((param) => String(param?.["message"]))
      const during = texts.filter((text) => text.startsWith("report"))
      assert.isAtLeast(during.length, 25)
      assert.isAtMost(during.length, 30)
      assert.deepStrictEqual(during.slice(0, 10), Array.from({ length: 10 }, (_, index) => `report ${index}`))
      assert.strictEqual(texts.filter((text) => text === "pause").length, 1)
      const after = texts.filter((text) => text.startsWith("more"))
      assert.isAtMost(after.length, 11)
      assert.strictEqual(texts.at(-1), "more 19999")
      const numbers = params.map((param) => Number(param?.["progress"]))
      assert.deepStrictEqual(numbers, [...new Set(numbers)].toSorted((one, other) => one - other))
    }))

  it.effect("is not sent for a task, nor without a token, nor for other methods [H5, H7]", () =>
    Effect.gen(function*() {
      const server = yield* start({ script: reporting([["a report"]]) })
      const _meta = { progressToken: "token" }
      const args = { arguments: { text: "done" } }
      const task = yield* server.ask("tools/call", { ...args, name: "job", _meta })
      assert.strictEqual(task.message.result?.["resultType"], "task")
      const plain = yield* server.ask("tools/call", { ...args, name: "plain" })
      assert.strictEqual(plain.message.result?.["resultType"], "complete")
      const listing = yield* server.ask("tools/list", { _meta })
      assert.isDefined(listing.message.result)
    }))

  it.effect("ends with a client that goes away, as its call does [A10]", () =>
    Effect.gen(function*() {
      const hasStopped = yield* Deferred.make<void>()
      const script: Script = Effect.fnUntraced(function*() {
        const { report } = yield* CurrentTask.CurrentTask
        yield* report("begun")
        return yield* Effect.onInterrupt(Effect.never, () =>
          Effect.andThen(report("too late"), Deferred.succeed(hasStopped, undefined)))
      })
      const server = yield* start({ script })
      const reading = yield* call(server, "token")
      assert.strictEqual((yield* reading.next).params?.["message"], "begun")
      yield* reading.leave
      assert.isTrue(yield* Deferred.isDone(hasStopped))
    }))

  it.effect("is followed by the error of a call that fails", () =>
    Effect.gen(function*() {
      const script: Script = (text) =>
        Effect.andThen(reporting([["begun"]])(text), Effect.die(new Error("secret")))
      const server = yield* start({ script })
      const messages = yield* (yield* call(server, "token")).rest
      assert.strictEqual(progressOf(messages).length, 1)
      assert.strictEqual(messages.at(-1)?.error?.code, -32603)
    }))
})
