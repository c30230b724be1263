/**
 * The HTTP benchmark: our server beside a bare `node:http` echo and the official SDK, in one run on one machine.
 *
 * All servers run as child processes for the whole run. In every round each workload visits every server before the
 * next workload begins, and the order of the servers turns by one from round to round, so that drift of the machine
 * falls on all alike. The first rounds warm up and are thrown away; the reported numbers are medians over the others.
 *
 * Read CPU/op first. The driver takes a core of its own, so the ops/s and latency of a cheap server are bounded by the
 * driver, and its CPU/op is what it costs with full batches of ready sockets, the least it can be.
 *
 * @since 0.1.0
 */
import { mkdtemp, rm } from "node:fs/promises"
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import type { Sample } from "./measure.ts"
import { measure } from "./measure.ts"
import type { Options } from "./options.ts"
import { parseOptions, usage } from "./options.ts"
import type { Row } from "./report.ts"
import { ratios, table } from "./report.ts"
import { connections } from "./RpcClient.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import { start } from "./ServerProcess.ts"
import { medianSample } from "./statistics.ts"

const turned = <A>(items: ReadonlyArray<A>, by: number): ReadonlyArray<A> => {
  const at = by % items.length
  return [...items.slice(at), ...items.slice(0, at)]
}

const runRounds = async (options: Options, running: ReadonlyArray<ServerProcess>): Promise<ReadonlyArray<Row>> => {
  const samples = new Map<string, Array<Sample>>()
  const keyOf = (workload: string, server: string) => `${workload}\n${server}`
  for (let round = 1 - options.warmUps; round <= options.rounds; round++) {
    process.stderr.write(round <= 0 ? "warming up ...\n" : `round ${round} of ${options.rounds} ...\n`)
    for (const workload of options.workloads) {
      const operations = Math.max(connections, Math.round(workload.operations * options.scale))
      for (const server of turned(running, round + options.warmUps)) {
        const sample = await measure(server, workload, operations)
        const key = keyOf(workload.name, server.name)
        if (round > 0) samples.set(key, [...(samples.get(key) ?? []), sample])
      }
    }
  }
  return options.workloads.flatMap((workload) =>
    running.map((server) => ({
      workload: workload.name,
      server: server.name,
      sample: medianSample(samples.get(keyOf(workload.name, server.name)) ?? [])
    }))
  )
}

const describeRun = (options: Options, running: ReadonlyArray<ServerProcess>): string =>
  [
    `Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}, ${availableParallelism()} CPUs, ` +
    `load ${(loadavg()[0] ?? 0).toFixed(2)}`,
    `${connections} connections, ${options.rounds} rounds after ${options.warmUps} to warm up, ` +
    `scale ${options.scale}, medians`,
    `CPU time by ${running.map(({ cpuSource, name }) => `${name}: ${cpuSource}`).join(", ")}`
  ].join("\n")

const main = async (options: Options): Promise<void> => {
  const running: Array<ServerProcess> = []
  const directory = await mkdtemp(join(tmpdir(), "bench-http-"))
  try {
    for (const entry of options.servers) running.push(await start(entry, directory))
    const rows = await runRounds(options, running)
    process.stdout.write(`${describeRun(options, running)}\n\n${table(rows)}\n\n${ratios(rows)}\n`)
  } finally {
    await Promise.all(running.map((server) => server.stop()))
    await rm(directory, { recursive: true })
  }
}

const readOptions = (): Options | undefined => {
  try {
    return parseOptions(process.argv.slice(2))
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n\n${usage}\n`)
    return process.exit(2)
  }
}

const options = readOptions()
if (options === undefined) process.stdout.write(`${usage}\n`)
else await main(options)
