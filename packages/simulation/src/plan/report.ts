/**
 * A plan in words and numbers: as a table for people, and as one JSON value for programs.
 *
 * @since 0.2.0
 */
import * as Distribution from "./Distribution.ts"
import { type LevelName, levelNames, type Method, methods, type Operation, operations, type Rate } from "./Ledger.ts"
import { lost, type Plan } from "./Plan.ts"
import type { Settings } from "./Settings.ts"

const { printTime } = Distribution

/** Some digits that mean something, and thousands set apart. */
const number = (value: number, digits = 3): string => {
  if (value === 0) return "0"
  const decimals = Math.min(4, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))))
  return value.toLocaleString("en-US", { maximumFractionDigits: decimals, minimumFractionDigits: decimals })
}

const whole = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 0 })

const percent = (part: number, all: number): string => all === 0 ? "0%" : `${number(100 * part / all)}%`

const row = (name: string, ...cells: ReadonlyArray<string>): string =>
  `  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(12)).join("")}`.trimEnd()

const rateRow = (name: string, { mean, peak, plusMinus }: Rate): string =>
  row(name, number(mean), plusMinus === 0 ? "" : `± ${number(plusMinus, 2)}`, whole(peak))

const operationWords: Readonly<Record<Operation, string>> = {
  create: "create (a new task)",
  view: "view (get, for a poll)",
  read: "read (get, for a change)",
  replace: "replace (a change)",
  due: "due (the sweeper)",
  remove: "remove (a forgotten task)",
  list: "list (start-up, replicas)"
}

const levelWords: Readonly<Record<LevelName, string>> = {
  live: "live",
  parked: "  wait for input",
  working: "  at work",
  queued: "  wait for a worker",
  stored: "in the store, ended ones too",
  streams: "subscriptions open"
}

const who = (settings: Settings): string => {
  const { asking, away, cancelled, failing, listening } = settings
  const shares: ReadonlyArray<readonly [share: number, what: string]> = [
    [asking, `ask (answered after ${Distribution.print(settings.answerAfter)})`],
    [failing, "fail"],
    [cancelled, "are cancelled"],
    [away, `are left and come back to after ${Distribution.print(settings.returnsAfter)}`]
  ]
  const part = (share: number) => `${Number((100 * share).toPrecision(3))}%`
  const said = shares.flatMap(([share, what]) => share === 0 ? [] : [`${part(share)} ${what}`])
  return [...said, `${part(listening)} of ${whole(settings.clients)} clients listen`].join("; ")
}

/**
 * What a plan is made for, in three lines.
 *
 * @since 0.2.0
 */
export const heading = ({ fates, settings }: Plan): ReadonlyArray<string> => [
  `${whole(settings.tasksPerHour)} tasks an hour, each ${Distribution.print(settings.duration)} of work, ` +
  `polled every ${printTime(settings.pollMs)}, ttl ${printTime(settings.ttlMs)}, ` +
  `results kept ${printTime(settings.resultTtlMs)}`,
  `${who(settings)}; ` +
  (settings.workers === undefined ? "one process runs all" : `${settings.workers} workers on replicas`),
  `From ${whole(fates.tasks)} simulated tasks in ${printTime(settings.countedMs)}, ` +
  `after ${printTime(settings.warmUpMs)} that is not counted; seed ${settings.seed}. ` +
  "± is where the mean of another run lies, 95 of 100 times."
]

const requests = ({ ledger }: Plan): ReadonlyArray<string> => [
  row("Requests per second", "mean", "", "busiest second"),
  ...methods.flatMap((method) => {
    const rate = ledger.requestRate([method])
    return rate.count === 0 ? [] : [rateRow(method, rate)]
  }),
  rateRow("all", ledger.requestRate())
]

const saving = (plan: Plan, listening: Plan | undefined): ReadonlyArray<string> => {
  if (listening === undefined) return ["All clients listen already."]
  const [now, then] = [plan, listening].map(({ ledger }) => ledger.requestRate())
  const streams = listening.ledger.levelOf("streams")
  const [polls, left] = [plan, listening].map(({ ledger }) => ledger.requestRate(["tasks/get"]).mean)
  return [
    `If all clients listened: ${number(then?.mean ?? 0)} requests per second instead of ${number(now?.mean ?? 0)} ` +
    `(${percent((now?.mean ?? 0) - (then?.mean ?? 0), now?.mean ?? 0)} saved), ` +
    `tasks/get ${number(left ?? 0)} instead of ${number(polls ?? 0)},`,
    `with ${whole(streams.mean)} subscriptions open on average, ${whole(streams.max)} at most.`
  ]
}

const store = ({ ledger }: Plan): ReadonlyArray<string> => [
  row("Store operations per second", "mean", "", "busiest second"),
  ...operations.flatMap((operation) => {
    const rate = ledger.operationRate([operation])
    return rate.count === 0 ? [] : [rateRow(operationWords[operation], rate)]
  }),
  rateRow("all", ledger.operationRate())
]

const levels = ({ ledger }: Plan): ReadonlyArray<string> => [
  row("Tasks at a time", "mean", "", "most"),
  ...levelNames.flatMap((name) => {
    const { max, mean } = ledger.levelOf(name)
    return max === 0 && name !== "parked" ? [] : [row(levelWords[name], number(mean), "", whole(max))]
  })
]

const losses = ({ fates, lifeMs, queueMs, settings }: Plan): ReadonlyArray<string> => {
  const { expired, forgotten, tasks } = fates
  const line = (name: string, count: number) => row(name, whole(count), percent(count, tasks))
  return [
    row("What the ttl loses", "tasks", "share"),
    line("ran out of time at work", expired.working),
    line("ran out of time waiting for input", expired.parked),
    ...(settings.workers === undefined ? [] : [line("ran out of time before a start", expired.queued)]),
    line("results gone before their client", forgotten),
    line("lost, of all", lost(fates)),
    "",
    `A task lives for ${printTime(lifeMs)} on average` +
    (settings.workers === undefined
      ? "."
      : `, and waits ${printTime(queueMs.mean)} for its start (${printTime(queueMs.max)} at most).`)
  ]
}

/** Whether more tasks come in than the workers get done: then the figures only say how long that has been so. */
const overload = ({ ledger, settings }: Plan): ReadonlyArray<string> => {
  const { workers } = settings
  if (workers === undefined) return []
  const needed = settings.tasksPerHour / 3_600_000 * Distribution.mean(settings.duration)
  return needed < workers ? [] : [
    "",
    `THE WORKERS CANNOT KEEP UP: ${number(needed)} would be at work at a time, and there are ${workers}. ` +
    `The queue grows for as long as this goes on; here to ${whole(ledger.levelOf("queued").max)} tasks.`
  ]
}

/**
 * Writes a plan as a table; `listening` is the same plan if every client listened.
 *
 * @since 0.2.0
 */
export const print = (plan: Plan, listening: Plan | undefined): string =>
  [
    ...heading(plan),
    "",
    ...requests(plan),
    "",
    ...saving(plan, listening),
    "",
    ...store(plan),
    "",
    ...levels(plan),
    "",
    ...losses(plan),
    ...overload(plan)
  ].join("\n")

const ratesOf = <Name extends string>(names: ReadonlyArray<Name>, rate: (name: Name) => Rate) =>
  Object.fromEntries(names.map((name) => [name, rate(name)]))

const figures = ({ fates, ledger, lifeMs, queueMs }: Plan) => ({
  requestsPerSecond: {
    ...ratesOf<Method>(methods, (method) => ledger.requestRate([method])),
    all: ledger.requestRate()
  },
  storeOperationsPerSecond: {
    ...ratesOf<Operation>(operations, (operation) => ledger.operationRate([operation])),
    all: ledger.operationRate()
  },
  tasksAtATime: Object.fromEntries(levelNames.map((name) => [name, ledger.levelOf(name)])),
  fates,
  lost: lost(fates),
  lifeMs,
  queueMs
})

/**
 * A plan as a JSON value: the settings, the figures, and those if every client listened.
 *
 * @since 0.2.0
 */
export const toJson = (plan: Plan, listening: Plan | undefined): object => ({
  settings: plan.settings,
  ...figures(plan),
  ...(listening === undefined ? {} : { ifAllListened: figures(listening) })
})
