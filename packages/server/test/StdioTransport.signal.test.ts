/** A server on the standard streams that is told to end. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { StdioTransport } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { type Cause, Deferred, Effect, Fiber, Layer, type PlatformError, Queue, Sink, Stdio, Stream } from "effect"
import { readMessage } from "./TestListener.ts"
import { dispatcher, message, type Script, settle } from "./TestServer.ts"

const encoder = new TextEncoder()

describe("an interruption", () => {
  it.effect("ends subscriptions in good order, and interrupts what is in flight and answers so, at once", () =>
    Effect.gen(function*() {
      const hasStopped = yield* Deferred.make<void>()
      const script: Script = () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(hasStopped, undefined))
      const context = yield* Layer.build(Layer.fresh(dispatcher({ script })))
      const input = yield* Queue.unbounded<Uint8Array, Cause.Done>()
      const written: Array<string> = []
      const stdout = (): Sink.Sink<void, string | Uint8Array, never, PlatformError.PlatformError> =>
        Sink.forEach((chunk) => Effect.sync(() => written.push(String(chunk))))
      const serving = yield* StdioTransport.serve().pipe(
        Effect.provideService(TaskOwner.CurrentOwner, TaskOwner.anonymous),
        Effect.provide(Stdio.layerTest({ stdin: Stream.fromQueue(input), stdout })),
        Effect.provideContext(context),
        Effect.forkChild
      )
      const request = (id: string, method: string, params: {}) =>
        Effect.andThen(Queue.offer(input, encoder.encode(`${message(method, params, { id })}\n`)), settle)
      yield* request("create", "tools/call", { name: "job", arguments: { text: "" } })
      const taskId = readMessage(written.shift()).result?.["taskId"]
      yield* request("listen", "subscriptions/listen", { notifications: { taskIds: [taskId] } })
      yield* request("call", "tools/call", { name: "plain", arguments: { text: "" } })
      written.length = 0
      yield* Fiber.interrupt(serving)
      yield* Deferred.await(hasStopped)
      const messages = written.map((line) => readMessage(line))
      assert.deepStrictEqual(
        messages.map(({ id, method }) => id ?? method),
        ["call", "listen", "notifications/cancelled"]
      )
      assert.deepStrictEqual(messages[0]?.error, {
        code: -32603,
        message: "The server is stopping, and did not finish this request"
      })
    }))
})
