/** What becomes of a task when nobody wants its result any more. */
import { InputHandler, TaskClient, TaskClientError, TaskHandleStore } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, Stream } from "effect"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { after, asking, by, complete, created, error, events, got, reset, silence } = HostileServer

/** Interrupts a fiber while time passes. */
const interrupt = (fiber: Fiber.Fiber<unknown, unknown>) => TestClient.run(Fiber.interrupt(fiber))

const script = { "tools/call": [created()], "tasks/get": [got()] }

describe("an interrupted call", () => {
  it.effect("cancels its task, with tasks/cancel and nothing else [J8]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(script)
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(5000))
      yield* interrupt(fiber)
      const [cancel] = server.of("tasks/cancel")
      assert.strictEqual(cancel?.params["taskId"], "t1")
      assert.strictEqual(server.seen.at(-1), cancel, "nothing follows")
    }))

  it.effect("cancels its task though the first request to do so is lost", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ ...script, "tasks/cancel": [silence, complete()] })
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(5000))
      const before = yield* Clock.currentTimeMillis
      yield* interrupt(fiber)
      assert.strictEqual(server.of("tasks/cancel").length, 2)
      assert.isAtMost((yield* Clock.currentTimeMillis) - before, 3500)
    }))

  it.effect("is not sent, if it was not yet", () =>
    Effect.gen(function*() {
      const list = after(2000, complete({ tools: [] }))
      const { client, server } = yield* TestClient.make({ ...script, "tools/list": [list] })
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(500), 100)
      yield* interrupt(fiber)
      yield* TestClient.run(Effect.sleep(10_000))
      assert.isEmpty(server.of("tools/call"))
    }))

  it.effect("leaves its task, if that is what its caller wants", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(script)
      const fiber = yield* Effect.forkChild(client.call("work", {}, { onInterrupt: "leave" }))
      yield* TestClient.run(Effect.sleep(5000))
      yield* interrupt(fiber)
      assert.isEmpty(server.of("tasks/cancel"))
    }))

  it.effect("cancels when its time is up [G6]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(script)
      const result = yield* TestClient.run(Effect.timeoutOption(client.call("work"), "10 seconds"))
      assert.isTrue(Option.isNone(result))
      assert.strictEqual(server.of("tasks/cancel").length, 1)
    }))

  it.effect("waits for the id of a task that is on its way, and cancels it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ ...script, "tools/call": [after(2000, created())] })
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(500), 100)
      assert.strictEqual(server.of("tools/call").length, 1)
      yield* interrupt(fiber)
      assert.strictEqual(server.of("tasks/cancel")[0]?.params["taskId"], "t1")
      assert.isEmpty(server.of("tasks/get"))
    }))

  it.effect("withdraws the request when no answer comes, and ends in bounded time [G6]", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ ...script, "tools/call": [silence] })
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(500), 100)
      const before = yield* Clock.currentTimeMillis
      yield* interrupt(fiber)
      assert.isAtMost((yield* Clock.currentTimeMillis) - before, 4000)
      assert.deepStrictEqual(server.withdrawn, server.of("tools/call").map(({ id }) => id))
      assert.isEmpty(server.of("tasks/cancel"))
    }))

  it.effect("needs no cancel when the answer is a plain result", () =>
    Effect.gen(function*() {
      const plain = complete({ content: [] })
      const { client, server } = yield* TestClient.make({ ...script, "tools/call": [after(1000, plain)] })
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(500), 100)
      yield* interrupt(fiber)
      assert.isEmpty(server.withdrawn)
      assert.isEmpty(server.of("tasks/cancel"))
    }))

  it.effect("does not wait for a cancel that gets no answer", () =>
    Effect.gen(function*() {
      for (const cancel of [silence, reset, error(-32602, "no such task")]) {
        const { client, server } = yield* TestClient.make({ ...script, "tasks/cancel": [cancel] })
        const fiber = yield* Effect.forkChild(client.call("work"))
        yield* TestClient.run(Effect.sleep(5000))
        const before = yield* Clock.currentTimeMillis
        yield* interrupt(fiber)
        assert.isAtMost((yield* Clock.currentTimeMillis) - before, 4000)
        assert.isAtLeast(server.of("tasks/cancel").length, 1)
      }
    }))

  it.effect("withdraws the question that is being asked", () =>
    Effect.gen(function*() {
      const shown = yield* Deferred.make<void>()
      const gone = yield* Deferred.make<void>()
      const onInput = InputHandler.make({
        elicit: () =>
          Effect.onInterrupt(Effect.andThen(Deferred.succeed(shown, undefined), Effect.never), () =>
            Deferred.succeed(gone, undefined))
      })
      const { client, server } = yield* TestClient.make({ ...script, "tasks/get": [asking(["a"])] })
      const fiber = yield* Effect.forkChild(client.call("work", {}, { onInput }))
      yield* TestClient.run(Deferred.await(shown))
      yield* interrupt(fiber)
      assert.isTrue(Deferred.isDoneUnsafe(gone))
      assert.strictEqual(server.of("tasks/cancel").length, 1)
    }))
})

describe("an interrupted start", () => {
  it.effect("cancels its task, be the id on its way or known already, unless it is to be left", () =>
    Effect.gen(function*() {
      for (const onInterrupt of ["cancel", "leave"] as const) {
        const saving = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        // A store that is slow keeps the handle from its caller after the id has come.
        const slow = TaskHandleStore.TaskHandleStore.of({
          save: () => Effect.andThen(Deferred.succeed(saving, undefined), Deferred.await(gate)),
          read: () => Effect.succeedNone,
          remove: () => Effect.void,
          list: () => Effect.succeed([])
        })
        const server = HostileServer.make(script)
        const context = yield* Layer.build(
          Layer.provide(TestClient.layer(server), Layer.succeed(TaskHandleStore.TaskHandleStore, slow))
        )
        const client = yield* Effect.provideContext(TaskClient.TaskClient, context)
        const fiber = yield* Effect.forkChild(Effect.scoped(client.start("work", {}, { onInterrupt })))
        yield* TestClient.run(Deferred.await(saving))
        yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* TestClient.settle
        yield* Deferred.succeed(gate, undefined)
        yield* TestClient.run(Fiber.await(fiber))
        assert.strictEqual(server.of("tasks/cancel").length, onInterrupt === "cancel" ? 1 : 0)
      }
    }))
})

describe("a call whose input handler fails", () => {
  class NoUser extends Schema.TaggedError<NoUser>()("NoUser", {}) {}
  const onInput = InputHandler.make({ elicit: () => Effect.fail(new NoUser()) })
  const asks = { ...script, "tasks/get": [asking(["a"])] }

  it.effect("fails with its error, and cancels the task", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(asks)
      const failed = yield* TestClient.failure(client.call("work", {}, { onInput }))
      assert.instanceOf(failed, NoUser)
      assert.strictEqual(server.of("tasks/cancel").length, 1)
    }))

  it.effect("leaves the task, if that is what its caller wants", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make(asks)
      yield* TestClient.failure(client.call("work", {}, { onInput, onInterrupt: "leave" }))
      assert.isEmpty(server.of("tasks/cancel"))
    }))

  it.effect("cancels when the handler dies or interrupts itself, too", () =>
    Effect.gen(function*() {
      for (const answer of [Effect.die("bug"), Effect.interrupt]) {
        const { client, server } = yield* TestClient.make(asks)
        const call = client.call("work", {}, { onInput: InputHandler.make({ elicit: () => answer }) })
        const exit = yield* TestClient.run(Effect.exit(call))
        assert.isTrue(Exit.isFailure(exit))
        assert.strictEqual(server.of("tasks/cancel").length, 1)
      }
    }))
})

describe("a task that is left", () => {
  const withStore = Effect.fnUntraced(function*(tools: HostileServer.Reply) {
    const server = HostileServer.make({ ...script, "tools/call": [tools] })
    const context = yield* Layer.build(TestClient.layer(server).pipe(Layer.provideMerge(TaskHandleStore.layerMemory)))
    return { server, ...(yield* Effect.provideContext(TestClient.services, context)) }
  })

  it.effect("is remembered, be its id known or on its way", () =>
    Effect.gen(function*() {
      for (const tools of [created(), after(1000, created())]) {
        const { client, store } = yield* withStore(tools)
        const fiber = yield* Effect.forkChild(client.call("work", {}, { onInterrupt: "leave" }))
        yield* TestClient.run(Effect.sleep(500), 100)
        yield* interrupt(fiber)
        assert.deepStrictEqual(yield* client.open, ["t1"])
        assert.deepStrictEqual((yield* store.list(TestClient.url)).map(({ tool }) => tool), ["work"])
      }
    }))

  it.effect("is forgotten once it is cancelled", () =>
    Effect.gen(function*() {
      const { client } = yield* withStore(created())
      const fiber = yield* Effect.forkChild(client.call("work"))
      yield* TestClient.run(Effect.sleep(5000))
      assert.deepStrictEqual(yield* client.open, ["t1"])
      yield* interrupt(fiber)
      assert.deepStrictEqual(yield* client.open, [])
    }))
})

describe("the call's own time", () => {
  it.effect("is bounded", () =>
    Effect.gen(function*() {
      const { client, server } = yield* TestClient.make({ "tools/call": [silence] })
      const failed = yield* TestClient.failure(client.call("work", {}, { timeout: "1 minute" }))
      assert.instanceOf(failed, TaskClientError.TransportError)
      assert.strictEqual(failed.reason, "Timeout")
      assert.strictEqual(server.withdrawn.length, 1)
    }))

  it.effect("is not cut short by a stream that is open and silent", () =>
    Effect.gen(function*() {
      const late = by(({ id }) => events(Stream.concat(
        Stream.make(": working\n\n"),
        Stream.fromEffect(Effect.as(
          Effect.sleep("5 minutes"),
          HostileServer.event({ id, result: { resultType: "complete", content: [] } })
        ))
      )))
      const { client } = yield* TestClient.make({ "tools/call": [late] })
      assert.deepStrictEqual((yield* TestClient.run(client.call("work"), 10_000)).content, [])
    }))
})
