/** What every handle store does, whatever it is kept in. */
import { TaskHandleStore } from "@effect-mcp-tasks/client"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"

const task = (taskId: string, firstSeenAt = 1): TaskHandleStore.RememberedTask => ({
  server: "http://a.test/mcp",
  taskId,
  tool: "work",
  firstSeenAt,
  answers: [
    { key: "a", response: { action: "accept", content: { "__proto__": 1, name: "ä\n" } }, isSent: true },
    { key: "b", isSent: false }
  ]
})

/** Runs on a fresh store for each test. */
export const suite = <E>(name: string, layer: Layer.Layer<TaskHandleStore.TaskHandleStore, E>) =>
  describe(`a handle store in ${name}`, () => {
    type Use = (store: TaskHandleStore.TaskHandleStore["Service"]) => Effect.Effect<void, unknown>
    const test = (title: string, use: Use) =>
      it.effect(title, () =>
        Effect.provide(Effect.flatMap(TaskHandleStore.TaskHandleStore, use), layer, { local: true }))

    test("gives back what it was given", Effect.fnUntraced(function*(store) {
      yield* store.save(task("t1"))
      assert.deepStrictEqual(yield* store.read("http://a.test/mcp", "t1"), Option.some(task("t1")))
      const changed = { ...task("t1"), answers: [] }
      yield* store.save(changed)
      assert.deepStrictEqual(yield* store.read("http://a.test/mcp", "t1"), Option.some(changed))
    }))

    test("lists the open tasks of one server, the oldest first", Effect.fnUntraced(function*(store) {
      yield* store.save(task("younger", 20))
      yield* store.save(task("older", 10))
      yield* store.save({ ...task("elsewhere", 5), server: "http://a.test/mcp2" })
      assert.deepStrictEqual((yield* store.list("http://a.test/mcp")).map(({ taskId }) => taskId), ["older", "younger"])
      assert.deepStrictEqual((yield* store.list("http://a.test/mcp2")).map(({ taskId }) => taskId), ["elsewhere"])
      assert.isEmpty(yield* store.list("http://a.test"))
    }))

    test("forgets", Effect.fnUntraced(function*(store) {
      yield* store.save(task("t1"))
      yield* store.remove("http://a.test/mcp", "t1")
      yield* store.remove("http://a.test/mcp", "never")
      assert.isTrue(Option.isNone(yield* store.read("http://a.test/mcp", "t1")))
      assert.isEmpty(yield* store.list("http://a.test/mcp"))
    }))

    test("takes any id and any server name", Effect.fnUntraced(function*(store) {
      const odd = ["/", "../x", "a b", "ä", "%2F", "\ud800", "\"", "\n", ".", ".."]
      for (const taskId of odd) yield* store.save(task(taskId))
      const listed = yield* store.list("http://a.test/mcp")
      assert.sameMembers(listed.map(({ taskId }) => taskId), odd)
      for (const taskId of odd) {
        assert.isTrue(Option.isSome(yield* store.read("http://a.test/mcp", taskId)), JSON.stringify(taskId))
      }
    }))
  })
