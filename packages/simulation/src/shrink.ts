/**
 * Makes a failing scenario smaller for as long as it still breaks the same rule.
 *
 * @since 0.1.0
 */
import type { RuleName } from "./Audit.ts"
import { rateNames } from "./Faults.ts"
import type { Call, ClientPlan, Scenario, Trouble } from "./Scenario.ts"
import * as Script from "./Script.ts"
import * as Result from "effect/Result"

const without = <A>(items: ReadonlyArray<A>, index: number): ReadonlyArray<A> => items.toSpliced(index, 1)

/** Troubles of a world that has lost a server or a client: those of the lost one go, those of later ones move up. */
const renumber = (troubles: ReadonlyArray<Trouble>, of: "server" | "client", lost: number): ReadonlyArray<Trouble> =>
  troubles.flatMap((trouble) => {
    const index: number | undefined = Object.hasOwn(trouble, of) ? Object(trouble)[of] : undefined
    if (index === undefined || index < lost) return [trouble]
    return index === lost ? [] : [{ ...trouble, [of]: index - 1 } as Trouble]
  })

const smallerCalls = (call: Call): ReadonlyArray<Call> => {
  const ops = Result.getOrElse(Script.parse(call.script), () => [])
  return [
    ...ops.map((_, index) => ({ ...call, script: without(ops, index).map(Script.print).join("; ") })),
    ...call.cancelAfterMs === undefined ? [] : [{ ...call, cancelAfterMs: undefined }],
    ...call.giveUpAfterMs === undefined ? [] : [{ ...call, giveUpAfterMs: undefined }],
    ...call.manner === "right" ? [] : [{ ...call, manner: "right" } as const]
  ]
}

const smallerClients = (client: ClientPlan): ReadonlyArray<ClientPlan> => [
  ...client.calls.map((_, index) => ({ ...client, calls: without(client.calls, index) })),
  ...client.library === undefined ? [] : [{ ...client, library: { ...client.library, aheadMs: 0, pace: 1 } }].filter(
    ({ library }) => library.aheadMs !== client.library?.aheadMs || library.pace !== client.library?.pace
  ),
  ...client.snoops ? [{ ...client, snoops: false }] : [],
  ...client.calls.flatMap((call, index) =>
    smallerCalls(call).map((smaller) => ({ ...client, calls: client.calls.with(index, smaller) }))
  )
]

/** Scenarios that differ from one by one thing less, those that leave out most first. */
const smaller = (scenario: Scenario): ReadonlyArray<Scenario> => {
  const { clients, rates, servers, troubles } = scenario
  return [
    ...clients.length === 1 ? [] : clients.map((_, index) => ({
      ...scenario,
      clients: without(clients, index),
      troubles: renumber(troubles, "client", index)
    })),
    ...servers.length === 1 ? [] : servers.map((_, index) => ({
      ...scenario,
      servers: without(servers, index),
      troubles: renumber(troubles, "server", index)
    })),
    ...rateNames.filter((name) => rates[name] !== undefined).map((name) => ({
      ...scenario,
      rates: Object.fromEntries(Object.entries(rates).filter(([known]) => known !== name))
    })),
    ...troubles.map((_, index) => ({ ...scenario, troubles: without(troubles, index) })),
    ...scenario.runner === "fiber" ? [] : [{ ...scenario, runner: "fiber" } as const],
    ...scenario.maxTurn === 2048 ? [] : [{ ...scenario, maxTurn: 2048 }],
    ...scenario.isSteady ? [] : [{ ...scenario, isSteady: true }],
    ...servers.flatMap(({ aheadMs, pace }, index) =>
      aheadMs === 0 && pace === 1 ? [] : [{ ...scenario, servers: servers.with(index, { aheadMs: 0, pace: 1 }) }]
    ),
    ...clients.flatMap((client, index) =>
      smallerClients(client).map((smaller) => ({ ...scenario, clients: clients.with(index, smaller) }))
    )
  ]
}

/**
 * The smallest scenario that it finds by leaving out one thing after another. `breaks` runs a scenario and says which
 * rule it breaks first; it is asked at most `maxRuns` times.
 *
 * @since 0.1.0
 */
export const shrink = (
  scenario: Scenario,
  breaks: (scenario: Scenario) => RuleName | undefined,
  maxRuns = 1_000
): Scenario => {
  const rule = breaks(scenario)
  let smallest = scenario
  let runs = 0
  let isSmaller = true
  while (isSmaller) {
    isSmaller = false
    for (const candidate of smaller(smallest)) {
      if (++runs > maxRuns) return smallest
      if (breaks(candidate) !== rule) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return smallest
}
