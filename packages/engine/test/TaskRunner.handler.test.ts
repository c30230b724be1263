/** How a handler is started and handed back, whatever it does in between. */
import { DeclaredCapabilities, TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { call, get, settle, start } from "./TestTools.ts"

const memory = Effect.provide(Layer.fresh(TaskStore.layerMemory))

describe("a handler that has not begun", () => {
  it.effect("is handed back when its process ends in good order, and costs no attempt however often", () =>
    Effect.gen(function*() {
      let process = yield* start({ resumable: () => Effect.never })
      const taskId = yield* call(process, "resumable")
      for (let round = 0; round < 5; round++) {
        yield* process.stop
        process = yield* start({ resumable: () => Effect.never })
      }
      yield* process.stop
      process = yield* start({ resumable: () => Effect.succeed("done") })
      yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "completed")
    }).pipe(memory))
})

describe("the capabilities that the creating call declared", () => {
  it.effect("are seen by every attempt, after a restart as before", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const resumable = () =>
        Effect.andThen(
          Effect.map(DeclaredCapabilities.DeclaredCapabilities, (declared) => seen.push(declared)),
          Effect.never
        )
      const capabilities = { sampling: {} }
      const first = yield* start({ resumable })
      yield* call(first, "resumable", "", capabilities)
      yield* settle
      yield* first.stop
      yield* start({ resumable })
      yield* settle
      assert.deepStrictEqual(seen, [capabilities, capabilities])
    }).pipe(memory))
})

/** Stands for whatever a request holds: its socket, its body, its user. */
class Held extends Context.Service<Held, string>()("@effect-mcp-tasks/engine/test/TaskRunner.handler.test/Held") {}

describe("what the request of the creating call holds", () => {
  it.effect("is neither seen nor kept by a handler, at first as after a restart", () =>
    Effect.gen(function*() {
      const seen: Array<Option.Option<string>> = []
      const resumable = () =>
        Effect.andThen(
          Effect.map(Effect.serviceOption(Held), (held) => seen.push(held)),
          Effect.never
        )
      const first = yield* start({ resumable })
      yield* Effect.provideService(call(first, "resumable"), Held, "a socket")
      yield* settle
      yield* first.stop
      yield* start({ resumable })
      yield* settle
      assert.deepStrictEqual(seen, [Option.none(), Option.none()])
    }).pipe(memory))
})
