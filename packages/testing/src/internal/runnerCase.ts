/**
 * What the cases of the runner suite are written with.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Fleet, ProcessOptions } from "../Fleet.ts"
import * as FleetTime from "../FleetTime.ts"
import type * as Suite from "../Suite.ts"
import type { Capability, Place } from "../TaskRunnerTest.ts"

/**
 * A case of the runner suite.
 *
 * @since 0.2.0
 */
export type RunnerCase = Suite.Case<Place, Capability>

type Body = (waiting: FleetTime.Waiting) => Effect.Effect<unknown, unknown, Fleet | Scope.Scope>

/**
 * A case of one fleet, that is only tried where the runner has what it needs.
 *
 * @since 0.2.0
 */
export const needing = (...needs: ReadonlyArray<Capability>) => (title: string, body: Body): RunnerCase => ({
  title,
  needs,
  run: ({ fleet, time }) =>
    Effect.asVoid(Effect.scoped(Effect.provide(body(FleetTime.of(time)), fleet, { local: true })))
})

/**
 * Settings under which a worker is soon found dead and its tasks soon taken up.
 *
 * @since 0.2.0
 */
export const quick: ProcessOptions = {
  lease: "1 second",
  grace: "2 seconds",
  scan: "2 seconds",
  heartbeat: "2 seconds"
}

/**
 * The same, for a process that takes calls and leaves the work to others.
 *
 * @since 0.2.0
 */
export const idle: ProcessOptions = { ...quick, concurrency: 0 }
