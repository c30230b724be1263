/**
 * A client that dies at any moment: before or after any of the things it does to the world, and without a chance to
 * do one more. The server, the store and the user live on.
 */
import { InputHandler, TaskClient, TaskHandleStore } from "@effect-mcp-tasks/client"
import { assert } from "@effect/vitest"
import { Effect, type Exit, type Fiber, Layer, Schema } from "effect"
import { HttpClient } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import * as HostileServer from "./HostileServer.ts"
import * as TestClient from "./TestClient.ts"

const { by, complete, created, done, error, got } = HostileServer

/** Burns down with each thing that is done; from its end on, nothing is done any more. */
class Fuse {
  private left: number
  death: string | undefined
  constructor(left: number) {
    this.left = left
  }
  private readonly burn = (moment: string): boolean => {
    this.left -= 1
    if (this.left === 0) this.death = moment
    return this.left <= 0
  }
  /** Does something, with a moment to die before it and one after. */
  readonly guard = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() =>
      this.burn(`before ${name}`)
        ? Effect.never
        : Effect.flatMap(effect, (value) => this.burn(`after ${name}`) ? Effect.never : Effect.succeed(value))
    )
}

/** A task that asks two questions, one after the other, and tells at the end what it was answered. */
export const makeWorld = () => {
  const keys = ["first", "second"]
  const answers = new Map<string, Array<string>>()
  /** Everything that was ever sent for a key, repetitions included. */
  const sent = new Map<string, Array<string>>()
  /** How often the user has decided on a key. */
  const decided = new Map<string, number>()
  let tasks = 0
  const server = HostileServer.make({
    "tools/call": [by(() => {
      tasks += 1
      return created()
    })],
    "tasks/get": [by(() => {
      const key = keys.find((candidate) => !answers.has(candidate))
      const lastUpdatedAt = `2026-07-28T10:1${answers.size}:00.000Z`
      if (tasks === 0) return error(-32602, "Task not found")
      return key === undefined
        ? done(keys.map((each) => answers.get(each)?.[0]).join(" and "))
        : got({ status: "input_required", lastUpdatedAt, inputRequests: { [key]: HostileServer.form(key) } })
    })],
    "tasks/update": [by(({ params }) => {
      for (const [key, response] of Object.entries(params["inputResponses"] as Schema.JsonObject)) {
        const text = JSON.stringify(response)
        sent.set(key, [...sent.get(key) ?? [], text])
        if (!answers.has(key)) answers.set(key, [text])
      }
      return complete()
    })]
  })
  const results: Array<string> = []
  return { server, answers, sent, decided, results, tasks: () => tasks }
}

/** The world that outlives the processes. */
export type World = ReturnType<typeof makeWorld>

/** A key-value store that outlives the processes. */
export const values = Effect.provide(KeyValueStore.KeyValueStore, Layer.fresh(KeyValueStore.layerMemory))

/** What became of a process: the moment at which it died, or its end. */
export interface Life<A> {
  readonly death: string | undefined
  readonly exit: Exit.Exit<A, unknown> | undefined
}

/** Lets a fiber live until it has ended, or its fuse has burnt down. A dead one is left lying: it does nothing more. */
const live = Effect.fnUntraced(function*<A>(fiber: Fiber.Fiber<A, unknown>, fuse: Fuse): Effect.fn.Return<Life<A>> {
  for (let turn = 0; turn < 2000; turn++) {
    yield* TestClient.settle
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return { death: undefined, exit }
    if (fuse.death !== undefined) return { death: fuse.death, exit: undefined }
    yield* TestClock.adjust(500)
  }
  return assert.fail("a process neither ends nor dies")
})

/** The user, who decides anew each time they are asked. */
const user = ({ decided }: World, fuse: Fuse) =>
  InputHandler.make({
    elicit: (_, { key }) =>
      fuse.guard(
        `ask ${key}`,
        Effect.sync(() => {
          const times = (decided.get(key) ?? 0) + 1
          decided.set(key, times)
          return { action: "accept", content: { decision: `${key} ${times}` } }
        })
      )
  })

/** A process that starts the task, or goes on with what an earlier one has left, for a number of moments. */
export const run = (world: World, store: KeyValueStore.KeyValueStore, moments: number): Effect.Effect<Life<void>> => {
  const fuse = new Fuse(moments)
  const http = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.transform((send) => fuse.guard("request", send)))
  ).pipe(Layer.provide(world.server.layer))
  const handles = Layer.provide(
    TaskHandleStore.layer,
    Layer.succeed(KeyValueStore.KeyValueStore, {
      ...store,
      get: (key) => fuse.guard("read", store.get(key)),
      set: (key, value) => fuse.guard(`save ${String(value)}`, store.set(key, value)),
      remove: (key) => fuse.guard("remove", store.remove(key))
    })
  )
  const client = TaskClient.layerHttp({ name: "crash", version: "0", url: TestClient.url, listen: false })
  const work = Effect.scoped(Effect.gen(function*() {
    const { open, resume, start } = yield* TaskClient.TaskClient
    const options = { onInput: user(world, fuse), success: Schema.String }
    const begun = world.tasks() === 0
      ? [yield* start("work", {}, options)]
      : yield* Effect.forEach(yield* open, (id) => resume(id, options))
    for (const handle of begun) world.results.push(yield* handle.await)
  })).pipe(Effect.provide(Layer.fresh(client.pipe(Layer.provide(handles), Layer.provide(http)))))
  return Effect.flatMap(Effect.forkDetach(work), (fiber) => live(fiber, fuse))
}
