/**
 * Runs one workload against one server and takes the numbers.
 *
 * The count of operations is fixed, so every server does the same work; 32 operations are always in flight (a closed
 * loop), so latency is the time of an operation under full load, queueing included.
 *
 * @since 0.1.0
 */
import { RpcClient, connections } from "./RpcClient.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import { percentile } from "./statistics.ts"
import type { Operation, Workload } from "./workloads.ts"

/** Is what one round of one workload on one server came to. CPU time is `undefined` where it cannot be read. */
export interface Sample {
  readonly opsPerSecond: number
  readonly p50Millis: number
  readonly p99Millis: number
  readonly cpuMicrosPerOp: number | undefined
  readonly cpuMicrosPerRequest: number | undefined
  readonly requestsPerOp: number
}

/** Repeats an operation `count` times, 32 at a time, and returns how long each took in milliseconds. */
const repeat = async (operation: Operation, count: number): Promise<Float64Array> => {
  const latencies = new Float64Array(count)
  let next = 0
  const loop = async () => {
    while (next < count) {
      const index = next++
      const begin = performance.now()
      await operation()
      latencies[index] = performance.now() - begin
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  return latencies
}

/** Measures `operations` repetitions of a workload on a server; its preparation is not counted. */
export const measure = async (server: ServerProcess, workload: Workload, operations: number): Promise<Sample> => {
  const client = new RpcClient(server.url)
  try {
    const { clear, operation, settle } = await workload.prepare(client)
    const requestsBefore = client.requests
    const cpuBefore = await server.cpuMicros()
    const begin = performance.now()
    const latencies = await repeat(operation, operations)
    const seconds = (performance.now() - begin) / 1000
    const requests = client.requests - requestsBefore
    await settle?.()
    const cpuAfter = await server.cpuMicros()
    await clear?.()
    const cpu = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore
    latencies.sort()
    return {
      opsPerSecond: operations / seconds,
      p50Millis: percentile(latencies, 0.5),
      p99Millis: percentile(latencies, 0.99),
      cpuMicrosPerOp: cpu === undefined ? undefined : cpu / operations,
      cpuMicrosPerRequest: cpu === undefined ? undefined : cpu / requests,
      requestsPerOp: requests / operations
    }
  } finally {
    await client.close()
  }
}
