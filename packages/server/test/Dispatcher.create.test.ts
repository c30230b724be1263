/** No task without somebody who knows of it: whatever fails, and whoever goes away, while a call becomes a task. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { read, type Script, settle, start } from "./TestServer.ts"

type Server = Effect.Success<ReturnType<typeof start>>
type Store = TaskStore.TaskStore["Service"]

/** The memory store with some of its operations changed. */
const altered = (change: (store: Store) => Partial<Store>) =>
  Layer.effect(
    TaskStore.TaskStore,
    Effect.map(TaskStore.TaskStore, (store) => TaskStore.TaskStore.of({ ...store, ...change(store) }))
  ).pipe(Layer.provide(TaskStore.layerMemory))

const away = (operation: "read" | "remove") =>
  Effect.fail(new TaskStore.TaskStoreError({ operation, reason: "Unavailable", cause: new Error("away") }))

const calling = (server: Server, name: string, text: string) =>
  Effect.forkChild(server.ask("tools/call", { name, arguments: { text } }))

/** What a call is answered with after the time within which it is answered inline. */
const answered = Effect.fnUntraced(function*(server: Server, text: string) {
  const asking = yield* calling(server, "quick", text)
  yield* settle
  yield* TestClock.adjust("2 seconds")
  return yield* Fiber.join(asking)
})

const statuses = (server: Server) =>
  Effect.map(server.store.list({ limit: 100 }), (tasks) => tasks.map(({ task }) => task.status))

describe("inlineWithin", () => {
  it.effect("a task that ends in time is answered with its result and forgotten", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const { body } = yield* answered(server, "hello")
      assert.include(body, `"resultType":"complete","content":[{"type":"text","text":"hello"}]}`)
      assert.deepStrictEqual(yield* statuses(server), [])
    }))

  it.effect("a task that fails in time is answered with its error and forgotten", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const { body, httpStatus } = yield* answered(server, "break")
      assert.strictEqual(httpStatus, 200)
      assert.deepStrictEqual(read(body).error, { code: 4050, message: "Broken", data: { why: "test" } })
      assert.deepStrictEqual(yield* statuses(server), [])
    }))

  it.effect("a task that does not end in time, or asks for input, is answered as a task", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const server = yield* start({ logs })
      assert.include((yield* answered(server, "sleep")).body, `"resultType":"task"`)
      assert.include((yield* answered(server, "ask")).body, `"resultType":"task"`)
      assert.deepStrictEqual((yield* statuses(server)).toSorted(), ["completed", "input_required"])
      yield* server.create("job", "ask")
      assert.deepStrictEqual(logs, [])
    }))

  it.effect("a task that is cancelled in time is answered as a task, and can be asked for", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const server = yield* start({ logs })
      const asking = yield* calling(server, "quick", "wait")
      yield* settle
      const [{ task: { taskId } } = { task: { taskId: "none" } }] = yield* server.store.list({ limit: 1 })
      yield* server.ask("tasks/cancel", { taskId })
      yield* settle
      const { result } = read((yield* Fiber.join(asking)).body)
      assert.deepInclude(result, { resultType: "task", taskId, status: "cancelled" })
      assert.include((yield* server.ask("tasks/get", { taskId })).body, `"status":"cancelled"`)
      assert.deepStrictEqual(logs, [])
    }))

  /** Breaks the store once the task exists, and expects the call to be answered with it all the same. */
  const breaking = (what: string, change: (store: Store, isBroken: () => boolean) => Partial<Store>) =>
    it.effect(`a task is answered as one when ${what}, and its result can be polled`, () =>
      Effect.gen(function*() {
        let isBroken = false
        const logs: Array<string> = []
        const script: Script = (text) => Effect.as(Effect.delay(Effect.void, "1 second"), text)
        const store = altered((store) => change(store, () => isBroken))
        const server = yield* start({ logs, script, store })
        const asking = yield* calling(server, "quick", "hello")
        yield* settle
        isBroken = true
        yield* TestClock.adjust("1 second")
        yield* settle
        yield* TestClock.adjust("5 seconds")
        const { result } = read((yield* Fiber.join(asking)).body)
        assert.strictEqual(result?.["resultType"], "task")
        const taskId = String(result?.["taskId"])
        assert.isTrue(logs.some((line) => line.startsWith("A task could not be answered inline")))
        isBroken = false
        yield* TestClock.adjust("30 seconds")
        yield* settle
        const { body } = yield* server.ask("tasks/get", { taskId })
        assert.include(body, `"status":"completed"`)
        assert.include(body, `"text":"hello"`)
      }))

  breaking("it cannot be forgotten", (store, isBroken) => ({
    remove: (taskId, version) => isBroken() ? away("remove") : store.remove(taskId, version)
  }))

  breaking("its end cannot be seen", (store, isBroken) => ({
    read: (taskId) => Effect.suspend(() => isBroken() ? away("read") : store.read(taskId))
  }))

  breaking("looking at it breaks", (store, isBroken) => ({
    read: (taskId) => Effect.suspend(() => isBroken() ? Effect.die(new Error("broken")) : store.read(taskId))
  }))
})

describe("a client that goes away before it knows of its task", () => {
  const stopping = () => {
    const stopped: Array<string> = []
    const script: Script = (text) =>
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => {
        stopped.push(text)
      }))
    return { stopped, script }
  }

  it.effect("while it waits for an inline result, has its task cancelled", () =>
    Effect.gen(function*() {
      const { script, stopped } = stopping()
      const logs: Array<string> = []
      const server = yield* start({ logs, script })
      const asking = yield* calling(server, "quick", "hello")
      yield* settle
      assert.deepStrictEqual(yield* statuses(server), ["working"])
      yield* Fiber.interrupt(asking)
      yield* settle
      assert.deepStrictEqual(yield* statuses(server), ["cancelled"])
      assert.deepStrictEqual(stopped, ["hello"])
      assert.deepStrictEqual(logs, [])
    }))

  it.effect("while the task is being created, has it created whole and cancelled", () =>
    Effect.gen(function*() {
      const { script } = stopping()
      const isCreating = yield* Deferred.make<void>()
      const mayCreate = yield* Deferred.make<void>()
      const store = altered((store) => ({
        create: (task, options) =>
          Deferred.succeed(isCreating, undefined).pipe(
            Effect.andThen(Deferred.await(mayCreate)),
            Effect.andThen(store.create(task, options))
          )
      }))
      const server = yield* start({ script, store })
      const asking = yield* calling(server, "job", "hello")
      yield* Deferred.await(isCreating)
      const leaving = yield* Effect.forkChild(Fiber.interrupt(asking))
      yield* settle
      assert.deepStrictEqual(yield* statuses(server), [])
      yield* Deferred.succeed(mayCreate, undefined)
      yield* Fiber.join(leaving)
      yield* settle
      assert.deepStrictEqual(yield* statuses(server), ["cancelled"])
    }))

  it.effect("after it was answered, leaves its task alone [G2]", () =>
    Effect.gen(function*() {
      const { script, stopped } = stopping()
      const server = yield* start({ script })
      const asking = yield* calling(server, "job", "hello")
      yield* settle
      yield* Fiber.interrupt(asking)
      yield* settle
      assert.deepStrictEqual(yield* statuses(server), ["working"])
      assert.deepStrictEqual(stopped, [])
    }))
})
