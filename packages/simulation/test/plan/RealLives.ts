/** Lives of a plan on the real engine and client, in one process and on the test clock, with everything counted. */
import { TaskClient, Transport } from "@effect-mcp-tasks/client"
import {
  Embedded,
  TaskEngine,
  TaskOwner,
  TaskQueue,
  TaskRunner,
  TaskSignal,
  TaskStore,
  TaskSweeper,
  TaskTools,
  TaskWorkers
} from "@effect-mcp-tasks/engine"
import { Dispatcher, InMemoryTransport } from "@effect-mcp-tasks/server"
import { Clock, Context, Effect, Fiber, Layer, Random, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Ledger } from "../../src/plan/Ledger.ts"
import type { Method } from "../../src/plan/Ledger.ts"
import type { Life } from "../../src/plan/Life.ts"
import * as MeasuredStore from "../../src/plan/MeasuredStore.ts"
import * as Plan from "../../src/plan/Plan.ts"
import * as RealLife from "../../src/plan/RealLife.ts"
import type { Settings } from "../../src/plan/Settings.ts"

/** The luck of every wait: with a constant there is nothing that a plan and a run could draw differently. */
export const luck = 0.35

const random = { nextDoubleUnsafe: () => luck, nextIntUnsafe: () => 0 }

const countedStore = (ledger: Ledger, began: number) =>
  Layer.provide(MeasuredStore.layer(ledger, began), Layer.fresh(TaskStore.layerMemory))

const replicated = (workers: number) =>
  Layer.merge(TaskRunner.layerQueueWith({ concurrency: workers }), TaskSweeper.layer).pipe(
    Layer.provideMerge(TaskEngine.layer),
    Layer.provide([TaskSignal.layerMemory, TaskQueue.layerMemory, TaskWorkers.layerMemory, SecureRandom.layerWebCrypto])
  )

const dispatcher = (settings: Settings, ledger: Ledger, began: number) => {
  const kit = RealLife.toolkit(settings)
  const server = Dispatcher.layer({ name: "plan", version: "0" })
  const run = settings.workers === undefined
    ? Layer.provide(server, Embedded.layer)
    : Layer.provide(server, Layer.orDie(replicated(settings.workers)))
  return run.pipe(
    Layer.provide(TaskTools.layer(kit)),
    Layer.provide(kit.toLayer({ work: RealLife.work })),
    Layer.provide(countedStore(ledger, began))
  )
}

/**
 * A transport within the process that counts what it carries, and gives the messages of streams as they come. Each way
 * takes half of a round trip.
 */
const transport = ({ roundTripMs }: Settings, ledger: Ledger, began: number) =>
  Layer.effect(
    Transport.Transport,
    Effect.map(InMemoryTransport.InMemoryTransport, (server) => {
      const way = roundTripMs === 0 ? Effect.void : Effect.sleep(roundTripMs / 2)
      return Transport.Transport.of({
        isAmbiguous: false,
        send: ({ body, headers, method }) =>
          Stream.unwrap(Effect.gen(function*() {
            yield* way
            ledger.request((yield* Clock.currentTimeMillis) - began, method as Method)
            const named = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]))
            const answer = yield* server.send(named, body).pipe(
              Effect.provideService(TaskOwner.CurrentOwner, TaskOwner.anonymous)
            )
            const messages = "messages" in answer ? answer.messages : Stream.make(answer.body ?? "")
            // Each takes its time from when it was sent, however many are on their way.
            const arriving = roundTripMs === 0
              ? messages
              : Stream.mapEffect(messages, (text) => Effect.as(way, text), { concurrency: "unbounded" })
            return Stream.mapEffect(arriving, (text) => Transport.readMessage(method, text))
          }))
      })
    })
  )

const client = (listen: boolean) =>
  Layer.fresh(TaskClient.layer({ name: "plan", version: "0", listen }))

/** Lives the lives, and gives back what was counted and how each ended. */
export const run = Effect.fnUntraced(function*(settings: Settings, lives: ReadonlyArray<Life>) {
  const began = yield* Clock.currentTimeMillis
  const span = Plan.spanOf(settings)
  const ledger = new Ledger(span)
  const connection = transport(settings, ledger, began).pipe(
    Layer.provide(InMemoryTransport.layer),
    Layer.provide(dispatcher(settings, ledger, began))
  )
  const wire = yield* Layer.build(connection)
  const processes = yield* Effect.forEach(Array.from({ length: settings.clients }), (_, index) => {
    const isListening = lives.some(({ client, listens }) => client === index && listens)
    const built = Effect.provideContext(Layer.build(client(isListening)), wire)
    return Effect.map(built, Context.get(TaskClient.TaskClient))
  })
  const living = lives.map((life) =>
    Effect.gen(function*() {
      yield* Effect.sleep(life.arrivesAtMs)
      const process = processes[life.client]
      return process === undefined ? yield* Effect.die("no such client") : yield* RealLife.live(process, life, settings)
    })
  )
  const fiber = yield* Effect.forkChild(
    Effect.provideService(Effect.all(living, { concurrency: "unbounded" }), Random.Random, random)
  )
  yield* TestClock.adjust(span.untilMs)
  const exit = fiber.pollUnsafe()
  yield* Fiber.interrupt(fiber)
  return { ledger, endings: exit === undefined ? undefined : yield* exit }
}, Effect.scoped)

/** A plan for the same lives, with the same luck. */
export const plan = (settings: Settings, lives: ReadonlyArray<Life>) =>
  Plan.runWith(settings, { lives, jitterOf: () => () => luck })
