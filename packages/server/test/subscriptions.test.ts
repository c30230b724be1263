/** What a listener hears, in which order, and what it never hears. */
import { CurrentTask, TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import {
  acknowledgement, bob, create, engineWith, graceful, hub, type Message, reportingForever, start, statuses,
  identity,
  subscriptionId
} from "./TestListener.ts"
import { type Script, settle } from "./TestServer.ts"

describe("a listener", () => {
  it.effect("is acknowledged first, then told what tasks/get says, now and with each change [H1, H4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* create(server, "ask")
      const polled = Effect.map(server.ask("tasks/get", { taskId }), ({ message: { result } }) => {
        const { _meta: _, resultType: __, ...task } = result ?? {}
        return { jsonrpc: "2.0", method: "notifications/tasks", params: { _meta: { [subscriptionId]: 1 }, ...task } }
      })
      const reading = yield* server.listen([taskId])
      assert.deepStrictEqual(yield* reading.next, acknowledgement({ taskIds: [taskId] }))
      const asked = yield* reading.next
      assert.deepStrictEqual(asked as unknown, yield* polled)
      assert.strictEqual(asked.params?.["status"], "input_required")
      assert.deepStrictEqual(yield* reading.rest, [])
      const inputResponses = { name: { action: "accept", content: { name: "Ada" } } }
      yield* server.ask("tasks/update", { taskId, inputResponses })
      const messages = yield* reading.rest
      assert.deepStrictEqual(messages.at(-2) as unknown, yield* polled)
      assert.deepStrictEqual(statuses(messages.slice(-2)), ["completed", graceful().result])
      assert.isTrue(yield* reading.hasEnded)
    }))

  it.effect("gets its id back as it came, in every message [C11, H4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* create(server, "hello")
      for (const id of ["1", 1, "", 0, -7, "\u2028\"\\", Number.MAX_SAFE_INTEGER]) {
        const reading = yield* server.listen([taskId], { id })
        const messages = yield* reading.rest
        assert.deepStrictEqual(messages.map(({ params, result }) => (params ?? result)?.["_meta"]), [
          { [subscriptionId]: id },
          { [subscriptionId]: id },
          { ...identity, [subscriptionId]: id }
        ])
        assert.deepStrictEqual(messages.at(-1), graceful(id))
      }
    }))

  it.effect("is granted its own tasks only, each once, and cannot tell the others apart [H2, I4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const own = yield* create(server, "wait")
      const second = yield* create(server, "wait")
      const foreign = yield* create(server, "ask", bob)
      const forgotten = yield* create(server, "hello")
      yield* TestClock.adjust("3 minutes")
      const alive = yield* create(server, "wait")
      const others = [foreign, "unknown", forgotten, own, second, "", "__proto__", "\u0000", "x".repeat(10_000)]
      const reading = yield* server.listen([foreign, alive, "unknown", alive, forgotten, foreign.toUpperCase()])
      assert.deepStrictEqual(yield* reading.next, acknowledgement({ taskIds: [alive] }))
      assert.strictEqual((yield* reading.next).params?.["taskId"], alive)
      assert.deepStrictEqual(yield* reading.rest, [])
      for (const other of others) {
        const reading = yield* server.listen([other])
        assert.deepStrictEqual(yield* reading.rest, [acknowledgement({ taskIds: [] }), graceful()])
        assert.isTrue(yield* reading.hasEnded)
      }
      // What happens to the foreign task is not heard of.
      yield* server.ask("tasks/cancel", { taskId: foreign }, { owner: bob })
      assert.deepStrictEqual(yield* reading.rest, [])
    }))

  it.effect("of several tasks hears each of them, until the last has ended", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskIds = [yield* create(server, "wait"), yield* create(server, "ask"), yield* create(server, "hello")]
      const reading = yield* server.listen(taskIds)
      const first = yield* reading.rest
      assert.deepStrictEqual(statuses(first), [
        "notifications/subscriptions/acknowledged",
        "working",
        "input_required",
        "completed"
      ])
      assert.deepStrictEqual(first.slice(1).map(({ params }) => params?.["taskId"]), taskIds)
      yield* server.ask("tasks/cancel", { taskId: String(taskIds[1]) })
      assert.deepStrictEqual(statuses(yield* reading.rest), ["cancelled"])
      yield* server.ask("tasks/cancel", { taskId: String(taskIds[0]) })
      assert.deepStrictEqual(statuses(yield* reading.rest), ["cancelled", graceful().result])
    }))

  it.effect("hears of every change once, in order, however the signals come", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const script: Script = Effect.fnUntraced(function*() {
        const { report } = yield* CurrentTask.CurrentTask
        yield* Deferred.await(go)
        for (let step = 1; step <= 20; step++) {
          yield* report(`step ${step}`)
          yield* settle
        }
        return "done"
      })
      const signals = yield* hub
      const server = yield* start({ script, engine: engineWith(signals.layer) })
      const taskId = yield* create(server, "count")
      const reading = yield* server.listen([taskId])
      yield* reading.rest
      yield* Deferred.succeed(go, undefined)
      const heard: Array<typeof Message.Type> = []
      while (!(yield* reading.hasEnded)) {
        heard.push(...yield* reading.rest)
        // Too many signals, and for the wrong task.
        for (const id of [taskId, taskId, "another"]) yield* signals.publish(id)
      }
      const updates = heard.filter(({ method }) => method === "notifications/tasks").map(({ params }) => params)
      const times = updates.map((task) => String(task?.["lastUpdatedAt"]))
      assert.deepStrictEqual(times, [...new Set(times)].toSorted())
      assert.strictEqual(updates.at(-1)?.["status"], "completed")
      assert.deepStrictEqual(heard.at(-1), graceful())
    }))

  it.effect("that does not read gets the latest state next, and nothing piles up", () =>
    Effect.gen(function*() {
      const server = yield* start({ script: reportingForever })
      const taskId = yield* create(server, "")
      const reading = yield* server.listen([taskId])
      yield* TestClock.adjust("30 seconds")
      yield* settle
      const messages = yield* reading.rest
      const texts = messages.map(({ params }) => params?.["statusMessage"])
      // The acknowledgement, one that waited to be read, one that waited to be sent, and then the present.
      assert.isAtMost(texts.length, 4)
      assert.strictEqual(texts.at(-1), "second 30")
    }))

  it.effect("hears neither progress nor log messages of its task [H5]", () =>
    Effect.gen(function*() {
      const script: Script = Effect.fnUntraced(function*() {
        const { report } = yield* CurrentTask.CurrentTask
        yield* Effect.logInfo("a log message of the handler")
        yield* report("half", { done: 1, total: 2 })
        yield* Effect.sleep("1 second")
        return "done"
      })
      const server = yield* start({ script })
      const _meta = { progressToken: "token" }
      const { message } = yield* server.ask("tools/call", { name: "job", arguments: { text: "" }, _meta })
      const reading = yield* server.listen([String(message.result?.["taskId"])])
      yield* TestClock.adjust("1 second")
      const methods = (yield* reading.rest).map(({ method }) => method)
      assert.deepStrictEqual([...new Set(methods)], [
        "notifications/subscriptions/acknowledged",
        "notifications/tasks",
        undefined
      ])
    }))
})

describe("an end", () => {
  it.effect("comes with the server's, in good order [H6]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* create(server, "wait")
      const reading = yield* server.listen([taskId])
      yield* reading.rest
      yield* server.endSubscriptions
      assert.deepStrictEqual(yield* reading.rest, [graceful()])
      assert.isTrue(yield* reading.hasEnded)
      // One that comes too late is acknowledged and ended, and its task is still there.
      const late = yield* server.listen([taskId], { id: "late" })
      assert.deepStrictEqual((yield* late.rest).at(-1), graceful("late"))
      assert.strictEqual((yield* server.ask("tasks/get", { taskId })).message.result?.["status"], "working")
    }))

  it.effect("comes when time is up, and the client may listen again", () =>
    Effect.gen(function*() {
      const server = yield* start({ limits: { maxListenTime: Duration.seconds(20) } })
      const taskId = yield* create(server, "wait")
      const reading = yield* server.listen([taskId])
      yield* reading.rest
      yield* TestClock.adjust("19 seconds")
      assert.deepStrictEqual(yield* reading.rest, [])
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(yield* reading.rest, [graceful()])
      assert.strictEqual((yield* (yield* server.listen([taskId])).rest).length, 2)
    }))

  it.effect("comes when the task is forgotten before it has ended", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* create(server, "wait")
      const reading = yield* server.listen([taskId])
      yield* reading.rest
      yield* server.store.remove(taskId, 1)
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* reading.rest, [graceful()])
    }))
})

describe("replicas that share a store and a signal", () => {
  const replicas = Effect.gen(function*() {
    const context = yield* Layer.build(Layer.fresh(TaskStore.layerMemory))
    const store = Layer.succeed(TaskStore.TaskStore, Context.get(context, TaskStore.TaskStore))
    const signals = yield* hub
    const options = { store, engine: engineWith(signals.layer) }
    return { a: yield* start(options), b: yield* start(options), signals }
  })

  it.effect("tell their listeners what happens on the other [C7]", () =>
    Effect.gen(function*() {
      const { a, b } = yield* replicas
      const taskId = yield* create(a, "ask")
      const reading = yield* b.listen([taskId])
      assert.deepStrictEqual(statuses(yield* reading.rest).slice(1), ["input_required"])
      yield* a.ask("tasks/cancel", { taskId })
      assert.deepStrictEqual(statuses(yield* reading.rest), ["cancelled", graceful().result])
    }))

  it.effect("hear of what no signal told them with the next heartbeat", () =>
    Effect.gen(function*() {
      const { a, b, signals } = yield* replicas
      const taskId = yield* create(a, "ask")
      const reading = yield* b.listen([taskId])
      yield* reading.rest
      yield* signals.lose
      yield* a.ask("tasks/cancel", { taskId })
      yield* TestClock.adjust("14 seconds")
      assert.deepStrictEqual(yield* reading.rest, [])
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(statuses(yield* reading.rest), ["cancelled", graceful().result])
    }))
})
