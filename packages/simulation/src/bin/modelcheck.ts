/**
 * `npm run modelcheck`: explores all interleavings of two workers, one task and one client, with each fault once.
 *
 * Ends with exit code 1 when a promise is broken, with the shortest history that breaks it.
 *
 * @since 0.1.0
 */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { deep, type Named, usual } from "../model/configurations.ts"
import { type Exploration, explore } from "../model/explore.ts"
import { type Flaw, flaws } from "../model/Model.ts"
import * as program from "./program.ts"

const flags = {
  isDeep: Flag.Boolean("deep").pipe(
    Flag.withDescription("More faults in one history: some minutes and gigabytes, once in a while"),
    Flag.withDefault(false)
  ),
  flaw: Flag.String("without").pipe(
    Flag.withDescription("Leaves something out of the model, to see what comes of it; \"list\" names what"),
    Flag.optional
  )
}

const count = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ",")

const print = ({ counterexample, depth, records, states, transitions }: Exploration, seconds: number): string =>
  [
    `  ${count(states)} states, ${count(transitions)} transitions, depth ${depth}, ${count(records)} records, ` +
    `${seconds.toFixed(1)} s`,
    ...counterexample === undefined
      ? []
      : [`  broken: ${counterexample.breach}`, ...counterexample.history.map((label) => `    ${label}`)]
  ].join("\n")

const check = Effect.fn(function*({ configuration, name }: Named, flaw: Flaw | undefined) {
  yield* Console.log(`${name}:`)
  const began = yield* Clock.monotonicTimeNanos
  const exploration = explore({ ...configuration, flaw })
  const nanos = (yield* Clock.monotonicTimeNanos) - began
  yield* Console.log(print(exploration, Number(nanos) / 1e9))
  return exploration
})

const isFlaw = (name: string): name is Flaw => Object.hasOwn(flaws, name)

const main = Effect.fn(function*({ flaw, isDeep }: Command.Command.Config.Infer<typeof flags>) {
  const name = Option.getOrUndefined(flaw)
  if (name === "list") {
    if (isDeep) return yield* program.refuse("--without list only lists, and has no use for --deep")
    return yield* Console.log(Object.entries(flaws).map(([name, why]) => `${name.padEnd(24)} ${why}`).join("\n"))
  }
  if (name !== undefined && !isFlaw(name)) {
    return yield* program.refuse(`The model has no part "${name}": --without list`)
  }
  const explored = yield* Effect.forEach(isDeep ? deep : usual, (named) => check(named, name))
  const states = explored.reduce((total, { states }) => total + states, 0)
  const broken = explored.filter(({ counterexample }) => counterexample !== undefined).length
  yield* Console.log(`${explored.length} configurations, ${count(states)} states, ${broken} broken`)
  if (broken > 0) yield* program.fail
})

program.run("modelcheck", "Explores all interleavings of a small configuration, with each fault once", flags, main)
