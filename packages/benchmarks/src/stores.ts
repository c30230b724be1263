/**
 * The benchmark of stores: creates, claims, transitions, polls and reads per second, beside the bare driver doing the
 * same; and what a handler costs that waits for input.
 *
 * Store and driver take turns, round by round, so that drift of the machine falls on both. One round warms up and is
 * thrown away; the numbers are medians over the others. 32 operations are in flight. Each round works on tasks of its
 * own; those of earlier rounds stay, so that tables and indexes grow as they do in use.
 *
 *   npm run bench
 *   npm run bench -- --stores redis,postgres --rounds 9 --count 5000
 *
 * Redis and Postgres are found by `REDIS_URL` and `DATABASE_URL`, or on this machine; what is not found is named.
 *
 * @since 0.1.0
 */
import { spawnSync } from "node:child_process"
import { availableParallelism, cpus, loadavg } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { median } from "./statistics.ts"
import { type Contestant, concurrency, operations, type Pair, recordBytes } from "./stores/Contestant.ts"
import * as memory from "./stores/memory.ts"
import * as postgres from "./stores/postgres.ts"
import * as redis from "./stores/redis.ts"
import * as sqlite from "./stores/sqlite.ts"

const postgresUrl = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres"

const stores: ReadonlyMap<string, () => Promise<Pair>> = new Map([
  ["memory", memory.open],
  ["sqlite", sqlite.open],
  ["postgres", () => postgres.open(postgresUrl)],
  ["redis", () => redis.open(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379")]
])

interface Options {
  readonly stores: ReadonlyArray<string>
  readonly rounds: number
  readonly count: number
  readonly parked: number
}

const usage = `npm run bench -- [options]

  --stores A,B   which: ${[...stores.keys()].join(", ")} (default all)
  --rounds N     measured rounds, after one that only warms up (default 5)
  --count N      tasks in a round (default 2000)
  --parked N     handlers that wait for input at the same time (default 5000; 0 measures none)
  --quick        one round of 50: checks that all works, its numbers mean nothing
  --help         prints this`

const whole = (option: string, text: string, least = 1): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least) throw new Error(`--${option} wants a whole number, not ${text}`)
  return value
}

const parse = (args: ReadonlyArray<string>): Options | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      stores: { type: "string" },
      rounds: { type: "string" },
      count: { type: "string" },
      parked: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  })
  if (values.help) return undefined
  const names = values.stores?.split(",").map((name) => name.trim()) ?? [...stores.keys()]
  const unknown = names.find((name) => !stores.has(name))
  if (unknown !== undefined) {
    throw new Error(`--stores: unknown "${unknown}"; there are ${[...stores.keys()].join(", ")}`)
  }
  return {
    stores: names,
    rounds: whole("rounds", values.rounds ?? (values.quick ? "1" : "5")),
    count: whole("count", values.count ?? (values.quick ? "50" : "2000")),
    parked: whole("parked", values.parked ?? (values.quick ? "50" : "5000"), 0)
  }
}

/** Is the median rate of each operation, in the order of `operations`. */
type Rates = ReadonlyArray<number>

const measure = async (pair: Pair, { count, rounds }: Options): Promise<ReadonlyArray<Rates>> => {
  const sides: ReadonlyArray<Contestant> = [pair.store, ...(pair.bare === undefined ? [] : [pair.bare])]
  const rates = sides.map(() => operations.map((): Array<number> => []))
  for (let round = 0; round <= rounds; round++) {
    for (const side of sides) side.prepare(count)
    for (const [column, operation] of operations.entries()) {
      for (const turn of sides.keys()) {
        // Who comes first changes from round to round.
        const index = (turn + round) % sides.length
        const begin = performance.now()
        await sides[index]?.run(operation)
        if (round > 0) rates[index]?.[column]?.push(count / (performance.now() - begin) * 1_000)
      }
    }
  }
  return rates.map((columns) => columns.map(median))
}

const line = (name: string, cells: ReadonlyArray<string>): string =>
  name.padEnd(26) + cells.map((cell) => cell.padStart(12)).join("")

const report = (pair: Pair, [ours = [], bare]: ReadonlyArray<Rates>): string => {
  const perSecond = (rates: Rates) => rates.map((rate) => rate.toFixed(0))
  const lines = [line(pair.store.name, perSecond(ours))]
  if (pair.bare !== undefined && bare !== undefined) {
    const ratio = ours.map((rate, column) => `${(rate / (bare[column] ?? Number.NaN)).toFixed(2)}x`)
    lines.push(line(`bare ${pair.bare.name}`, perSecond(bare)), line("ratio", ratio))
  }
  return lines.join("\n")
}

const bench = async (name: string, options: Options): Promise<void> => {
  const skipped = (cause: unknown) => void process.stdout.write(`${name}: skipped, ${String(cause)}\n\n`)
  const pair = await stores.get(name)?.().catch(skipped)
  if (pair === undefined) return
  try {
    const rates = await measure(pair, options)
    process.stdout.write(`${name} (${pair.settings})\n${report(pair, rates)}\n\n`)
  } finally {
    await pair.store.close()
    await pair.bare?.close()
  }
}

const parked = fileURLToPath(new URL("stores/parked.ts", import.meta.url))

/** In a process of its own, whose heap holds nothing else. */
const measureParked = (count: number): void => {
  const args = ["--expose-gc", ...process.execArgv, parked, String(count)]
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] })
  if (status !== 0) throw new Error(`${parked} ended with ${status}`)
}

const main = async (options: Options): Promise<void> => {
  process.stdout.write([
    `Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}, ${availableParallelism()} CPUs, load ` +
    (loadavg()[0] ?? 0).toFixed(2),
    `${options.count} tasks of ${recordBytes} bytes in a round, ${options.rounds} rounds, ${concurrency} in flight; ` +
    "operations per second, medians",
    `\n${line("", operations)}\n\n`
  ].join("\n"))
  for (const name of options.stores) await bench(name, options)
  if (options.parked > 0) measureParked(options.parked)
}

const readOptions = (): Options | undefined => {
  try {
    return parse(process.argv.slice(2))
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n\n${usage}\n`)
    return process.exit(2)
  }
}

const options = readOptions()
if (options === undefined) process.stdout.write(`${usage}\n`)
else await main(options)
