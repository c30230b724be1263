/** Waiting, and handlers that ask, for tests of fleets on any clock. */
import { CurrentTask } from "@effect-mcp-tasks/engine"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { Fleet, Process } from "./Fleet.ts"
import { get, type Polled, settle } from "./TestTools.ts"

/** What a suite may expect of a runner. */
export interface Capabilities {
  /** Whether several processes run at a time. */
  readonly replicas: boolean
  /** Whether time passes only as a test says. */
  readonly virtualTime: boolean
}

export const confirm = { message: "Overwrite?", schema: Schema.Struct({ overwrite: Schema.Boolean }) }

/** A handler that asks and says what it heard. */
export const asking = (_text: string) =>
  Effect.gen(function*() {
    const task = yield* CurrentTask.CurrentTask
    const answer = yield* Effect.orDie(task.elicit("confirm", confirm))
    return `attempt ${task.attempt}: ${JSON.stringify(answer)}`
  })

export const accept = { confirm: { action: "accept", content: { overwrite: true } } }

/** What the tests of one suite go by. */
export const timesOf = ({ virtualTime }: Capabilities) => {
  const pass = virtualTime
    ? Effect.andThen(settle, Effect.andThen(TestClock.adjust("250 millis"), settle))
    : Effect.sleep("20 millis")

  /** Lets time pass until it is so: a minute of the test's time, half a minute of real time. */
  const until = <E, R>(what: string, isSo: Effect.Effect<boolean, E, R>) =>
    Effect.gen(function*() {
      for (let round = 0; round < (virtualTime ? 240 : 1_000); round++) {
        if (virtualTime) yield* settle
        if (yield* isSo) return
        yield* pass
      }
      assert.fail(`It did not come about: ${what}`)
    })

  const becomes = (process: Process, taskId: string, status: Polled["status"]) =>
    Effect.gen(function*() {
      yield* until(`${taskId} is ${status}`, Effect.map(get(process, taskId), (task) => task.status === status))
      return yield* get(process, taskId)
    })

  return { until, becomes, test: virtualTime ? it.effect : it.live }
}

/** Provides the fleet of a suite. */
export type Provide = <A, E>(effect: Effect.Effect<A, E, Fleet>) => Effect.Effect<A, unknown>
