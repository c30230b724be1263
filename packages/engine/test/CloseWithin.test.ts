/** Layers that do not hold up the end of their process. */
import { Health, Replicated, Storage } from "@effect-mcp-tasks/engine"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as TaskDatabase from "./TaskDatabase.ts"
import { settle, toolsOf } from "./TestTools.ts"

class Client extends Context.Service<Client, { readonly id: number }>()(
  "@effect-mcp-tasks/engine/test/CloseWithin.test/Client"
) {}

const clientThat = (closes: Effect.Effect<unknown>) =>
  Layer.effect(Client, Effect.as(Effect.addFinalizer(() => closes), { id: 0 }))

/** Waits for an answer that does not come, as a client does whose server stands still, and when it closes too. */
const clientThatNeverOpens = Layer.effect(
  Client,
  Effect.andThen(Effect.addFinalizer(() => Effect.never), Effect.never)
)

/** Builds a layer, closes it, and says for how long and with what in the log. */
const closing = Effect.fnUntraced(function*<E>(layer: Layer.Layer<Client, E>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  const scope = yield* Scope.make()
  yield* Layer.buildWithScope(layer, scope)
  const fiber = yield* Effect.forkChild(Effect.provide(Scope.close(scope, Exit.void), Logger.layer([logger])))
  yield* settle
  return { isClosed: Effect.map(settle, () => fiber.pollUnsafe() !== undefined), fiber, lines }
})

describe("Storage.closeWithin", () => {
  it.effect("leaves behind what takes longer, says so, and lets it go on", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const client = clientThat(Effect.andThen(Deferred.await(answer), Deferred.succeed(closed, undefined)))
      const { isClosed, lines } = yield* closing(client.pipe(Storage.closeWithin("5 seconds")))
      yield* TestClock.adjust("4 seconds")
      assert.isFalse(yield* isClosed)
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isClosed)
      assert.deepStrictEqual(lines, ["A layer takes too long to close, and is left behind"])
      yield* Deferred.succeed(answer, undefined)
      yield* Deferred.await(closed)
    }))

  it.effect("waits for what closes in time", () =>
    Effect.gen(function*() {
      const client = clientThat(Effect.sleep("2 seconds"))
      const { fiber, isClosed, lines } = yield* closing(client.pipe(Storage.closeWithin("5 seconds")))
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* isClosed)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(lines, [])
    }))

  it.effect("says what did not close well, and is closed all the same", () =>
    Effect.gen(function*() {
      const { fiber, lines } = yield* closing(
        clientThat(Effect.die("lost")).pipe(Storage.closeWithin("5 seconds"))
      )
      yield* Fiber.join(fiber)
      assert.strictEqual(lines.length, 1)
      assert.match(lines[0] ?? "", /^A layer did not close well/)
    }))

  it.effect("does not wait for what does not open, nor for the end of that", () =>
    Effect.gen(function*() {
      const opening = Effect.forkChild(
        Effect.flip(Layer.build(clientThatNeverOpens.pipe(Storage.closeWithin("5 seconds"))))
      )
      const fiber = yield* opening
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("6 seconds")
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, Storage.NotOpened)
      assert.strictEqual(error.message, "a storage takes connections and did not answer within 10s")
    }).pipe(Effect.scoped))

  it.effect("ends in time when it is interrupted while it opens", () =>
    Effect.gen(function*() {
      const launched = yield* Effect.forkChild(
        Layer.launch(clientThatNeverOpens.pipe(Storage.closeWithin("2 seconds")))
      )
      yield* TestClock.adjust("1 second")
      yield* Effect.forkChild(Fiber.interrupt(launched))
      yield* TestClock.adjust("2 seconds")
      yield* TestClock.adjust("2 seconds")
      assert.isDefined(launched.pollUnsafe())
    }))

  it.effect("opens a client that takes its time", () =>
    Effect.gen(function*() {
      const slow = Layer.effect(Client, Effect.delay(Effect.succeed({ id: 1 }), "20 seconds"))
      const opening = Layer.build(slow.pipe(Storage.closeWithin("5 seconds", { opensWithin: "30 seconds" })))
      const fiber = yield* Effect.forkChild(opening)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(Context.get(yield* Fiber.join(fiber), Client).id, 1)
    }).pipe(Effect.scoped))

  it.effect("gives one client to all who ask for it", () =>
    Effect.gen(function*() {
      let made = 0
      const client = Layer.effect(Client, Effect.sync(() => ({ id: ++made }))).pipe(Storage.closeWithin("5 seconds"))
      const user = Layer.effectDiscard(Client)
      yield* Layer.build(Layer.mergeAll(Layer.provide(user, client), client, Layer.provide(Layer.fresh(user), client)))
      assert.strictEqual(made, 1)
    }).pipe(Effect.scoped))

  it.effect("leaves one report on health for the replica and its storage", () =>
    Effect.gen(function*() {
      const layer = Replicated.layer.pipe(
        Layer.provide([Storage.layerSqlite.pipe(Storage.closeWithin("5 seconds")), toolsOf({})]),
        Layer.provide(Layer.unwrap(Effect.map(TaskDatabase.file, (filename) => SqliteClient.layer({ filename }))))
      )
      const health = Context.get(yield* Layer.build(layer), Health.Health)
      const { loops } = yield* health.ready
      assert.includeMembers(Object.keys(loops), ["claim 1", "renew", "sweep", "clock", "queue clean-up"])
    }).pipe(Effect.scoped))
})
