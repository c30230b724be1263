/** Which subscriptions are refused, how many there may be, and what becomes of them when the store fails. */
import { McpProtocol, WireError } from "@effect-mcp-tasks/core"
import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Option, type Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  acknowledgement, bob, create, engineWith, graceful, hub, reportingForever, start, statuses
} from "./TestListener.ts"

describe("limits", () => {
  it.effect("an owner has so many subscriptions at a time, and a client that leaves gives its place back", () =>
    Effect.gen(function*() {
      const server = yield* start({ limits: { maxListeners: 2 } })
      const taskId = yield* create(server, "wait")
      const other = yield* create(server, "wait", bob)
      const first = yield* server.listen([taskId])
      const second = yield* server.listen([taskId])
      yield* first.rest
      yield* second.rest
      const { message } = yield* server.ask("subscriptions/listen", { notifications: { taskIds: [taskId] } })
      assert.deepStrictEqual(message.error, {
        code: -32603,
        message: "Too many subscriptions: 2 are allowed at a time"
      })
      assert.strictEqual((yield* (yield* server.listen([other], { owner: bob })).rest).length, 2)
      yield* first.leave
      const third = yield* server.listen([taskId])
      assert.strictEqual((yield* third.rest).length, 2)
      // What is given back is one place.
      const beyond = yield* server.ask("subscriptions/listen", { notifications: { taskIds: [taskId] } })
      assert.strictEqual(beyond.message.error?.code, -32603)
      // Ended ones give their places back too.
      yield* server.ask("tasks/cancel", { taskId })
      for (let again = 0; again < 5; again++) {
        assert.strictEqual((yield* (yield* server.listen([taskId])).rest).length, 3)
      }
    }))

  it.effect("one subscription names so many tasks", () =>
    Effect.gen(function*() {
      const server = yield* start({ limits: { maxListenedTasks: 2 } })
      const taskId = yield* create(server, "wait")
      assert.strictEqual((yield* (yield* server.listen([taskId, "unknown"])).rest).length, 2)
      const { message } = yield* server.ask("subscriptions/listen", { notifications: { taskIds: [taskId, "a", "b"] } })
      assert.deepStrictEqual(message.error, {
        code: -32602,
        message: "params.notifications.taskIds may name at most 2 tasks"
      })
    }))
})

describe("what is refused", () => {
  it.effect("tasks, for a client that did not declare them, whatever the ids are [H3]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const own = yield* create(server, "wait")
      const foreign = yield* create(server, "wait", bob)
      for (const taskIds of [[], [own], [foreign], ["unknown"], "nonsense", null]) {
        for (const capabilities of [{}, { extensions: { [McpProtocol.TasksExtension]: null } }, { tasks: {} }]) {
          const reply = yield* server.ask("subscriptions/listen", { notifications: { taskIds } }, { capabilities })
          const { code, message } = WireError.tasksRequired
          assert.deepStrictEqual([reply.httpStatus, reply.message.error], [400, { code, message }])
        }
      }
    }))

  it.effect("a filter that is none", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const refused = Effect.fnUntraced(function*(params: Schema.JsonObject, words: string) {
        const reply = yield* server.ask("subscriptions/listen", params)
        const error = { code: -32602, message: `params.notifications${words}` }
        assert.deepStrictEqual([reply.httpStatus, reply.message.error], [200, error])
      })
      yield* refused({}, " must be an object")
      for (const notifications of [null, [], "all", 1, true]) yield* refused({ notifications }, " must be an object")
      for (const taskIds of [null, {}, "id", 1, [1], ["id", null], [["id"]]]) {
        yield* refused({ notifications: { taskIds } }, ".taskIds must be a list of strings")
      }
    }))

  it.effect("not: a filter with nothing in it that is known here, which is acknowledged and ended", () =>
    Effect.gen(function*() {
      const server = yield* start()
      for (const notifications of [{}, { promptsListChanged: true, resourceSubscriptions: ["a:b"], later: 1 }]) {
        for (const capabilities of [{}, undefined]) {
          const sender = capabilities === undefined ? {} : { capabilities }
          const reading = yield* server.stream("subscriptions/listen", { notifications }, sender)
          assert.deepStrictEqual(yield* reading.rest, [acknowledgement({}), graceful()])
        }
      }
    }))
})

describe("a store that fails", () => {
  /** The memory store, whose `view` a test may break or hold back. */
  const faulty = (around: (view: Effect.Effect<Option.Option<TaskStore.TaskView>, TaskStore.TaskStoreError>) =>
    Effect.Effect<Option.Option<TaskStore.TaskView>, TaskStore.TaskStoreError>) =>
    Layer.effect(
      TaskStore.TaskStore,
      Effect.map(TaskStore.TaskStore, (store) =>
        TaskStore.TaskStore.of({ ...store, view: (taskId) => around(store.view(taskId)) }))
    ).pipe(Layer.provide(TaskStore.layerMemory))

  const unavailable = new TaskStore.TaskStoreError({ operation: "read", reason: "Unavailable", cause: "secret" })

  it.effect("before the acknowledgement is an error, and later is waited out", () =>
    Effect.gen(function*() {
      let isDown = false
      const logs: Array<string> = []
      const store = faulty((view) => Effect.suspend(() => isDown ? Effect.fail(unavailable) : view))
      const server = yield* start({ store, logs })
      const taskId = yield* create(server, "ask")
      const reading = yield* server.listen([taskId])
      yield* reading.rest
      isDown = true
      const { message } = yield* server.ask("subscriptions/listen", { notifications: { taskIds: [taskId] } })
      assert.deepStrictEqual(message.error, {
        code: -32603,
        message: "The server cannot reach its tasks at the moment"
      })
      yield* server.ask("tasks/cancel", { taskId })
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* reading.rest, [])
      isDown = false
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(statuses(yield* reading.rest), ["cancelled", graceful().result])
      assert.deepStrictEqual(logs.map((line) => line.split(/[,;]/)[0]?.trim()), [
        "Requests cannot be served",
        "Requests that need the task store are served again"
      ])
    }))

  it.effect("with old answers takes nobody back", () =>
    Effect.gen(function*() {
      const seen: Array<Option.Option<TaskStore.TaskView>> = []
      let isOld = false
      const store = faulty((view) => Effect.map(view, (now) => {
        seen.push(now)
        return isOld ? seen[0] ?? now : now
      }))
      const signals = yield* hub
      const server = yield* start({ store, script: reportingForever, engine: engineWith(signals.layer) })
      const taskId = yield* create(server, "")
      const reading = yield* server.listen([taskId])
      yield* reading.rest
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* reading.rest).at(-1)?.params?.["statusMessage"], "second 2")
      isOld = true
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* reading.rest, [])
      isOld = false
      yield* signals.publish(taskId)
      assert.deepStrictEqual((yield* reading.rest).map(({ params }) => params?.["statusMessage"]), ["second 5"])
    }))
})
