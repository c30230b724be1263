/** What is written for requests that are cancelled, refused or report: nothing more than there should be. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { start, waiting } from "./StdioServer.ts"

const plain = (text: string) => ({ name: "plain", arguments: { text } })

describe("a cancelled request", () => {
  it.effect("says nothing more, even when its handler cannot be stopped and goes on reporting [B5]", () =>
    Effect.gen(function*() {
      const { finish, script } = yield* waiting
      const stubborn = (text: string) =>
        Effect.uninterruptible(Effect.gen(function*() {
          const { report } = yield* CurrentTask.CurrentTask
          yield* report("begun")
          const ended = yield* script(text)
          yield* report("ended")
          return ended
        }))
      const server = yield* start({}, { script: stubborn })
      yield* server.request(1, "tools/call", { ...plain("work"), _meta: { progressToken: "t" } })
      assert.deepStrictEqual((yield* server.written).map(({ params }) => params?.["message"]), ["begun"])
      yield* server.notify("notifications/cancelled", { requestId: 1 })
      yield* finish("work")
      assert.deepStrictEqual(yield* server.written, [])
    }))

  it.effect("gives its id back at once, and its late end does not take it from the next one [B5, C1]", () =>
    Effect.gen(function*() {
      const { finish, script } = yield* waiting
      const server = yield* start({}, { script: (text) => Effect.uninterruptible(script(text)) })
      yield* server.request(1, "tools/call", plain("first"))
      yield* server.notify("notifications/cancelled", { requestId: 1 })
      yield* server.request(1, "tools/call", plain("second"))
      yield* finish("first")
      yield* server.request(1, "tools/call", plain("third"))
      assert.deepStrictEqual((yield* server.written).map(({ error, id }) => [id, error?.code]), [[null, -32600]])
      yield* finish("second")
      assert.deepStrictEqual((yield* server.written).map(({ id }) => id), [1])
    }))
})

describe("only a subscription that was open is said to be torn down [G5]", () => {
  it.effect("not one that is refused", () =>
    Effect.gen(function*() {
      const server = yield* start()
      yield* server.request(1, "subscriptions/listen", { notifications: { taskIds: "all" } })
      assert.deepStrictEqual((yield* server.written).map(({ error, id }) => [id, error?.code]), [[1, -32602]])
    }))

  it.effect("not a call that has reported", () =>
    Effect.gen(function*() {
      const script = (text: string) =>
        Effect.flatMap(CurrentTask.CurrentTask, ({ report }) => Effect.as(report("halfway"), text))
      const server = yield* start({}, { script })
      yield* server.request(1, "tools/call", { ...plain("work"), _meta: { progressToken: "t" } })
      assert.deepStrictEqual((yield* server.written).map(({ id, method }) => id ?? method), [
        "notifications/progress",
        1
      ])
    }))
})
