/**
 * The command line of the HTTP benchmark.
 *
 * @since 0.1.0
 */
import { parseArgs } from "node:util"
import type { ServerEntry } from "./servers.ts"
import { servers } from "./servers.ts"
import type { Workload } from "./workloads.ts"
import { workloads } from "./workloads.ts"

/**
 * After so many rounds the compiler has done most of what it will do. CPU time of a poll, round by round of 8000: 188,
 * 157, 114, 109 us for ours, and 536, 443, 314, 331 us for the official SDK.
 */
const enoughWarmUps = 3

/** Is what a run does: how many rounds are thrown away and measured, which part of the full counts, against whom. */
export interface Options {
  readonly warmUps: number
  readonly rounds: number
  readonly scale: number
  readonly servers: ReadonlyArray<ServerEntry>
  readonly workloads: ReadonlyArray<Workload>
}

/** Is the text that `--help` prints. */
export const usage = `npm run bench:http -- [options]

  --rounds N        measured rounds, after ${enoughWarmUps} that only warm up (default 5)
  --scale X         multiplies the number of operations in a round (default 1)
  --servers A,B     which servers: ${servers.map(({ name }) => name).join(", ")} (default all)
  --workloads A,B   which workloads: ${workloads.map(({ name }) => name).join(", ")} (default all)
  --quick           a smoke run of some seconds: checks that all works, its numbers mean little
  --help            prints this`

const positive = (option: string, text: string): number => {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${option} wants a positive number, not ${text}`)
  return value
}

const select = <A extends { readonly name: string }>(
  option: string,
  all: ReadonlyArray<A>,
  names: string | undefined
): ReadonlyArray<A> => {
  if (names === undefined) return all
  return names.split(",").map((name) => {
    const found = all.find((entry) => entry.name === name.trim())
    if (found === undefined) {
      throw new Error(`--${option}: unknown "${name}"; there are ${all.map((entry) => entry.name).join(", ")}`)
    }
    return found
  })
}

/** Reads the command line; `undefined` asks for the usage text. Throws on what it does not know. */
export const parseOptions = (args: ReadonlyArray<string>): Options | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string" },
      scale: { type: "string" },
      servers: { type: "string" },
      workloads: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false }
    }
  })
  if (values.help) return undefined
  return {
    warmUps: values.quick ? 1 : enoughWarmUps,
    rounds: Math.ceil(positive("rounds", values.rounds ?? (values.quick ? "1" : "5"))),
    scale: positive("scale", values.scale ?? (values.quick ? "0.02" : "1")),
    servers: select("servers", servers, values.servers),
    workloads: select("workloads", workloads, values.workloads)
  }
}
