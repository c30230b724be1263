/** What the loops of a replica say of a storage that is away, in the log and to whoever asks whether it is ready. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { Fleet, FleetTime } from "@effect-mcp-tasks/testing"
import { call } from "@effect-mcp-tasks/testing/FleetTools"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Logger, Ref } from "effect"

const { start } = Fleet
const quick = { lease: "1 second", grace: "0 seconds", scan: "2 seconds", heartbeat: "2 seconds" } as const
const idle = { ...quick, concurrency: 0 }

/** Counts what is logged while the effect runs. */
const listening = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Error" || logLevel === "Warn") lines.push(String(Array.isArray(message) ? message[0] : message))
  })
  yield* Effect.provide(effect, Logger.layer([logger]))
  return lines
})

/** Tests outages over the storage of a fleet. */
export const suite = <E>(name: string, layer: Layer.Layer<Fleet.Fleet, E>, time: FleetTime.Time) => {
  const { becomes, until } = FleetTime.of(time)
  const fleet = Effect.provide(layer, { local: true })

  describe(name, () => {
    const test = time === "test" ? it.effect : it.live

    test("is said once by each loop, and forgotten", () =>
      Effect.gen(function*() {
        const lines = yield* listening(Effect.gen(function*() {
          const isRunning = yield* Ref.make(false)
          const process = yield* start({
            once: () =>
              Effect.gen(function*() {
                yield* Ref.set(isRunning, true)
                yield* Effect.sleep("1 second")
                yield* (yield* CurrentTask.CurrentTask).report("on")
                return "through"
              })
          }, quick)
          const other = yield* start({}, idle)
          const isReady = Effect.map(process.health.ready, (readiness) => readiness.isReady)
          yield* until("it is ready", isReady)
          const taskId = yield* call(other, "once")
          yield* until("it runs", Ref.get(isRunning))
          process.link.disturb = (operation) => process.link.fail(operation)
          yield* until("it is not ready", Effect.map(isReady, (ready) => !ready))
          yield* Effect.forkChild(
            Effect.andThen(Effect.sleep("4 seconds"), Effect.sync(() => {
              process.link.disturb = (_operation, effect) => effect
            }))
          )
          yield* becomes(other, taskId, "completed")
          yield* until("it is ready again", isReady)
        }))
        const loops = lines.filter((line) => line === "A background loop fails; it tries on")
        assert.isAtLeast(loops.length, 1)
        assert.isAtMost(loops.length, 12)
        assert.isAtMost(lines.length, 20, lines.join("\n"))
      }).pipe(fleet))

    if (time === "real") return

    test("is named by the loop that hangs in it, whose process is not ready", () =>
      Effect.gen(function*() {
        for (const [operation, loop] of [["beats", "renew"], ["due", "sweep"], ["list", "recover"]] as const) {
          const process = yield* start({}, { ...quick, lease: "3 seconds" })
          const readiness = process.health.ready
          yield* until("it is ready", Effect.map(readiness, ({ isReady }) => isReady))
          process.link.disturb = (name, effect) => name === operation ? Effect.never : effect
          yield* until(`${loop} is stuck`, Effect.map(readiness, ({ isReady, loops }) =>
            !isReady && loops[loop] === "stuck"))
        }
      }).pipe(fleet))
  })
}
