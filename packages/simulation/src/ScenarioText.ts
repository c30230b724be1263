/**
 * Scenarios as text that people read and write, one thing a line.
 *
 * ```
 * seed 7
 * runner queue
 * calm at 20000
 * server ahead 0 pace 1
 * client ada
 * call at 100: resumable, answers right, cancels after 900: ask a; end ok
 * trouble at 500: crash server 1 for 2000
 * rate store-fail 0.05
 * ```
 *
 * A call is of the client above it. Servers and clients are counted from 1 here.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { type RateName, rateNames } from "./Faults.ts"
import { type RunnerName, runnerNames } from "./runners.ts"
import type { Call, ClientPlan, Lack, Manner, Scenario, ServerPlan, Trouble } from "./Scenario.ts"
import * as Script from "./Script.ts"
import { toolNames } from "./Tools.ts"

/**
 * Writes a trouble.
 *
 * @since 0.1.0
 */
export const printTrouble = (trouble: Trouble): string => {
  switch (trouble.kind) {
    case "outage":
    case "silence":
      return `${trouble.kind} for ${trouble.forMs}`
    case "spell":
      return `spell of ${trouble.what} for ${trouble.forMs}`
    case "partition":
      return `partition client ${trouble.client + 1} server ${trouble.server + 1} for ${trouble.forMs}`
    case "client-crash":
      return `crash client ${trouble.client + 1} for ${trouble.forMs}`
    case "client-jump":
      return `jump client ${trouble.client + 1} by ${trouble.byMs}`
    case "jump":
      return `jump server ${trouble.server + 1} by ${trouble.byMs}`
    default:
      return `${trouble.kind} server ${trouble.server + 1} for ${trouble.forMs}`
  }
}

const printCall = ({ answerAfterMs, atMs, cancelAfterMs, giveUpAfterMs, lacks, manner, script, tool }: Call): string =>
  [
    `call at ${atMs}: ${tool}, answers ${manner}`,
    ...answerAfterMs === undefined ? [] : [` after ${answerAfterMs}`],
    ...cancelAfterMs === undefined ? [] : [`, cancels after ${cancelAfterMs}`],
    ...giveUpAfterMs === undefined ? [] : [`, gives up after ${giveUpAfterMs}`],
    ...lacks === undefined ? [] : [`, lacks ${lacks}`],
    script === "" ? ":" : `: ${script}`
  ].join("")

const printClient = ({ library, owner, snoops }: ClientPlan): string =>
  library === undefined
    ? `client ${owner}${snoops ? " snoops" : ""}`
    : `client ${owner} with library ahead ${library.aheadMs} pace ${library.pace} patience ${library.patienceMs}`

/**
 * Writes a scenario.
 *
 * @since 0.1.0
 */
export const print = (scenario: Scenario): string =>
  [
    `seed ${scenario.seed}`,
    `runner ${scenario.runner}`,
    `calm at ${scenario.calmAtMs}`,
    `turns of ${scenario.maxTurn}`,
    ...scenario.isSteady ? ["steady"] : [],
    ...scenario.servers.map(({ aheadMs, pace }) => `server ahead ${aheadMs} pace ${pace}`),
    ...scenario.clients.flatMap((client) => [printClient(client), ...client.calls.map(printCall)]),
    ...scenario.troubles.map((trouble) => `trouble at ${trouble.atMs}: ${printTrouble(trouble)}`),
    ...Object.entries(scenario.rates).map(([name, rate]) => `rate ${name} ${rate}`)
  ].join("\n")

type Draft = {
  seed: number
  runner: RunnerName
  calmAtMs: number
  maxTurn: number
  isSteady: boolean
  readonly servers: Array<ServerPlan>
  readonly clients: Array<ClientPlan & { readonly calls: Array<Call> }>
  readonly troubles: Array<Trouble>
  readonly rates: Partial<Record<RateName, number>>
}

/** What a line says to the draft, or why it cannot. */
type Reader = readonly [pattern: RegExp, read: (words: ReadonlyArray<string>, draft: Draft) => string | void]

const oneOf = <A extends string>(names: ReadonlyArray<A>, name: string | undefined): name is A =>
  names.some((known) => known === name)

const manners: ReadonlyArray<Manner> = ["right", "late", "twice", "wrong", "unknown", "declines", "never"]

const optional = (text: string | undefined): number | undefined => text === undefined ? undefined : Number(text)

/** How a call goes on, besides the way in which questions are answered. */
const ways =
  /^(?: after (\d+))?(?:, cancels after (\d+))?(?:, gives up after (\d+))?(?:, lacks (tasks|elicitation))?$/

const index = (text: string | undefined): number => Number(text) - 1

const readers: ReadonlyArray<Reader> = [
  [/^seed (\d+)$/, ([seed], draft) => void (draft.seed = Number(seed))],
  [/^runner (\w+)$/, ([runner], draft) => {
    if (!oneOf(runnerNames, runner)) return "no such runner"
    draft.runner = runner
  }],
  [/^calm at (\d+)$/, ([calm], draft) => void (draft.calmAtMs = Number(calm))],
  [/^turns of (\d+)$/, ([turns], draft) => void (draft.maxTurn = Number(turns))],
  [/^steady$/, (_, draft) => void (draft.isSteady = true)],
  [/^server ahead (-?\d+) pace ([\d.]+)$/, ([ahead, pace], draft) =>
    void draft.servers.push({ aheadMs: Number(ahead), pace: Number(pace) })],
  [/^client (\w+)( snoops)?$/, ([owner = "", snoops], draft) =>
    void draft.clients.push({ owner, snoops: snoops !== undefined, calls: [] })],
  [/^client (\w+) with library ahead (-?\d+) pace ([\d.]+) patience (\d+)$/, ([owner = "", ahead, pace, ms], draft) =>
    void draft.clients.push({
      owner,
      snoops: false,
      library: { aheadMs: Number(ahead), pace: Number(pace), patienceMs: Number(ms) },
      calls: []
    })],
  [
    /^call at (\d+): (\w+), answers (\w+)([^:]*):(.*)$/,
    ([at, tool, manner, more = "", script = ""], draft) => {
      const read = ways.exec(more)
      if (read === null) return "no such way to call"
      const [, answer, cancel, giveUp, lacks] = read
      const parsed = Script.parse(script)
      if (!oneOf(toolNames, tool) || !oneOf(manners, manner)) return "no such tool, or no such way to answer"
      if (Result.isFailure(parsed)) return parsed.failure
      const client = draft.clients.at(-1)
      if (client === undefined) return "a call comes after its client"
      client.calls.push({
        atMs: Number(at),
        tool,
        script: script.trim(),
        manner,
        answerAfterMs: optional(answer),
        cancelAfterMs: optional(cancel),
        giveUpAfterMs: optional(giveUp),
        lacks: lacks as Lack | undefined
      })
    }
  ],
  [/^trouble at (\d+): (outage|silence) for (\d+)$/, ([at, kind, ms], draft) =>
    void draft.troubles.push({ kind: kind as "outage", atMs: Number(at), forMs: Number(ms) })],
  [/^trouble at (\d+): spell of ([\w-]+) for (\d+)$/, ([at, what, ms], draft) =>
    oneOf(rateNames, what)
      ? void draft.troubles.push({ kind: "spell", atMs: Number(at), what, forMs: Number(ms) })
      : "no such fault of messages"],
  [/^trouble at (\d+): (crash|shutdown|isolation) server (\d+) for (\d+)$/, ([at, kind, server, ms], draft) =>
    void draft.troubles.push({ kind: kind as "crash", atMs: Number(at), server: index(server), forMs: Number(ms) })],
  [/^trouble at (\d+): partition client (\d+) server (\d+) for (\d+)$/, ([at, client, server, ms], draft) =>
    void draft.troubles.push({
      kind: "partition",
      atMs: Number(at),
      client: index(client),
      server: index(server),
      forMs: Number(ms)
    })],
  [/^trouble at (\d+): crash client (\d+) for (\d+)$/, ([at, client, ms], draft) =>
    void draft.troubles.push({ kind: "client-crash", atMs: Number(at), client: index(client), forMs: Number(ms) })],
  [/^trouble at (\d+): jump client (\d+) by (-?\d+)$/, ([at, client, ms], draft) =>
    void draft.troubles.push({ kind: "client-jump", atMs: Number(at), client: index(client), byMs: Number(ms) })],
  [/^trouble at (\d+): jump server (\d+) by (-?\d+)$/, ([at, server, ms], draft) =>
    void draft.troubles.push({ kind: "jump", atMs: Number(at), server: index(server), byMs: Number(ms) })],
  [/^rate ([\w-]+) ([\d.]+)$/, ([name, rate], draft) => {
    if (!oneOf(rateNames, name)) return "no such fault of messages"
    draft.rates[name] = Number(rate)
  }]
]

const readLine = (line: string, draft: Draft): string | undefined => {
  for (const [pattern, read] of readers) {
    const [found, ...words] = pattern.exec(line) ?? []
    if (found !== undefined) return read(words, draft) ?? undefined
  }
  return "it is no line of a scenario"
}

/** Whether what is named exists. */
const check = ({ clients, servers, troubles }: Scenario): string | undefined => {
  if (servers.length === 0) return "there is no server"
  const stranger = troubles.find((trouble) =>
    ("server" in trouble && servers[trouble.server] === undefined) ||
    ("client" in trouble && clients[trouble.client] === undefined)
  )
  return stranger === undefined ? undefined : `nobody is there for this trouble: ${printTrouble(stranger)}`
}

/**
 * Reads a scenario, or says which line is wrong. Blank lines and lines that begin with `#` say nothing.
 *
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<Scenario, string> => {
  const draft: Draft = {
    seed: 1,
    runner: "fiber",
    calmAtMs: 20_000,
    maxTurn: 2048,
    isSteady: false,
    servers: [],
    clients: [],
    troubles: [],
    rates: {}
  }
  for (const line of text.split("\n").map((line) => line.trim())) {
    const wrong = line === "" || line.startsWith("#") ? undefined : readLine(line, draft)
    if (wrong !== undefined) return Result.fail(`${line}: ${wrong}`)
  }
  const wrong = check(draft)
  return wrong === undefined ? Result.succeed(draft) : Result.fail(wrong)
}
