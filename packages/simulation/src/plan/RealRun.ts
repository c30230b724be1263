/**
 * A plan's lives, lived for real: a server on SQLite behind HTTP, clients that reach it by HTTP, and real time.
 *
 * Requests are counted where they arrive, at the HTTP server, by their `Mcp-Method` header.
 *
 * @since 0.2.0
 */
import * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskServer from "@effect-mcp-tasks/server/TaskServer"
import * as SqliteClient from "@effect-mcp-tasks/sqlite/SqliteClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { createServer, type Server } from "node:http"
import { Ledger, type Method, methods } from "./Ledger.ts"
import * as Life from "./Life.ts"
import * as MeasuredStore from "./MeasuredStore.ts"
import * as Plan from "./Plan.ts"
import * as RealLife from "./RealLife.ts"
import type { Settings } from "./Settings.ts"

const isCounted = (method: unknown): method is Method => methods.some((counted) => counted === method)

const counting = (onRequest: (method: Method) => void) => (): Server =>
  createServer().on("request", ({ headers }) => {
    const method = headers["mcp-method"]
    if (isCounted(method)) onRequest(method)
  })

const server = (
  settings: Settings,
  filename: string,
  store: Layer.Layer<TaskStore.TaskStore, never, TaskStore.TaskStore>
) => {
  const toolkit = RealLife.toolkit(settings)
  return TaskServer.layerHttp({ name: "plan-check", version: "0.1.0", toolkit }).pipe(
    Layer.provide(toolkit.toLayer({ work: RealLife.work })),
    Layer.provide(store),
    Layer.provide([TaskStore.layerSql, TaskOwner.layerAnonymous]),
    Layer.provide(SqliteClient.layer({ filename, exclusive: true }))
  )
}

type RoundTrips = { count: number; totalMs: number }

/** An HTTP client that notes how long the head of each answer takes. */
const timed = (trips: RoundTrips) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.transform((answer) =>
      Effect.map(Effect.timed(answer), ([took, response]) => {
        trips.count++
        trips.totalMs += Duration.toMillis(took)
        return response
      })))
  ).pipe(Layer.provide(FetchHttpClient.layer))

const client = (url: string, listen: boolean, trips: RoundTrips) =>
  Layer.fresh(TaskClient.layerHttp({ name: "plan-check", version: "0.1.0", url, listen })).pipe(
    Layer.provide(timed(trips))
  )

/**
 * What a real run has shown: what was counted, and how many calls ended how, by `RealLife.live`'s words.
 *
 * @since 0.2.0
 */
export interface Run {
  readonly ledger: Ledger
  readonly endings: ReadonlyMap<string, number>
  /** Calls that had not ended when the run did. */
  readonly open: number
  /** How long requests took on average, to the head of their answer. */
  readonly roundTripMs: number
}

/**
 * Lives what the settings draw. Takes the counted time, and for those that have not ended by then at most `graceMs`.
 *
 * @since 0.2.0
 */
export const run = Effect.fn(function*(settings: Settings, graceMs: number) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const began = yield* Clock.currentTimeMillis
  const clock = yield* Clock.Clock
  const ledger = new Ledger(Plan.spanOf(settings))
  const listener = NodeHttpServer.layer(
    counting((method) => ledger.request(clock.currentTimeMillisUnsafe() - began, method)),
    { host: "127.0.0.1", port: 0, gracefulShutdownTimeout: "1 second" }
  )
  const served = server(settings, `${directory}/tasks.sqlite`, MeasuredStore.layer(ledger, began))
  const built = yield* Layer.build(Layer.provideMerge(served, listener))
  const url = yield* Effect.provideContext(HttpServer.addressFormattedWith(Effect.succeed), built)
  const trips: RoundTrips = { count: 0, totalMs: 0 }
  const processes = yield* Effect.forEach(Array.from({ length: settings.clients }), (_, index) =>
    Effect.map(
      Layer.build(client(`${url}/mcp`, Life.isListening(settings, index), trips)),
      Context.get(TaskClient.TaskClient)
    ))

  const endings = new Map<string, number>()
  let open = 0
  const living = Effect.fnUntraced(function*(life: Life.Life) {
    const process = processes[life.client]
    if (process === undefined) return yield* Effect.die(`There is no client ${life.client}`)
    yield* Effect.sleep(Math.max(0, began + life.arrivesAtMs - (yield* Clock.currentTimeMillis)))
    const ending = yield* RealLife.live(process, life, settings)
    open--
    endings.set(ending, (endings.get(ending) ?? 0) + 1)
  })
  const lives = [...Plan.livesOf(settings)]
  open = lives.length
  const fiber = yield* Effect.forkChild(Effect.forEach(lives, living, { concurrency: "unbounded", discard: true }))
  yield* Effect.timeoutOption(Fiber.join(fiber), ledger.span.untilMs + graceMs)
  yield* Fiber.interrupt(fiber)
  const result: Run = { ledger, endings, open, roundTripMs: trips.totalMs / trips.count }
  return result
}, Effect.scoped)
