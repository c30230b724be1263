/** A client of a hostile server, and time that passes for both until something has ended. */
import { type HttpTransport, InputHandler, TaskClient, TaskHandleStore } from "@effect-mcp-tasks/client"
import { assert } from "@effect/vitest"
import { Effect, type Exit, type Fiber, Layer, type Schema } from "effect"
import { TestClock } from "effect/testing"
import * as HostileServer from "./HostileServer.ts"

export const url = "http://hostile.test/mcp"

/** A client of a server that follows a script. */
export const make = Effect.fnUntraced(function*(
  script: HostileServer.Script,
  options: Partial<TaskClient.Options & HttpTransport.HttpOptions> = {}
) {
  const server = HostileServer.make(script)
  const client = TaskClient.layerHttp({ name: "test", version: "0", url, listen: false, ...options })
  const context = yield* Layer.build(Layer.provide(client, server.layer))
  return { server, client: yield* Effect.provideContext(TaskClient.TaskClient, context) }
})

/** Lets fibers and promises do what they can do without time passing. */
export const settle = Effect.forEach(
  Array.from({ length: 5 }),
  () => Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
  { discard: true }
)

/** Lets time pass until a fiber has ended, and gives back how. */
export const awaitExit = Effect.fnUntraced(function*<A, E>(
  fiber: Fiber.Fiber<A, E>,
  stepMs = 500
): Effect.fn.Return<Exit.Exit<A, E>> {
  for (let turn = 0; turn < 20_000; turn++) {
    yield* settle
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return exit
    yield* TestClock.adjust(stepMs)
  }
  return assert.fail("it never ends")
})

/** Runs an effect to its end while time passes. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>, stepMs?: number): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(effect), (fiber) => Effect.flatten(awaitExit(fiber, stepMs)))

/** The error that an effect must end with. */
export const failure = <A, E, R>(effect: Effect.Effect<A, E, R>, stepMs?: number): Effect.Effect<E, never, R> =>
  Effect.orDie(Effect.flip(run(effect, stepMs)))

/** A handler that accepts, and writes down what it was asked. */
export const accepting = (content: Schema.JsonObject = { ok: true }) => {
  const asked: Array<InputHandler.InputQuestion> = []
  const handler = InputHandler.make({
    elicit: (_, question) =>
      Effect.sync(() => {
        asked.push(question)
        return { action: "accept", content }
      })
  })
  return { asked, handler }
}

/** A client of a hostile server, as a layer. */
export const layer = (
  server: HostileServer.HostileServer,
  options: Partial<TaskClient.Options & HttpTransport.HttpOptions> = {}
) =>
  Layer.fresh(
    TaskClient.layerHttp({ name: "test", version: "0", url, listen: false, ...options }).pipe(
      Layer.provide(server.layer)
    )
  )

/** A client and the store that it remembers in. */
export const services = Effect.all({ client: TaskClient.TaskClient, store: TaskHandleStore.TaskHandleStore })
