/**
 * Prints the medians as a plain table, one row per workload and server, and then the ratios that matter.
 *
 * @since 0.1.0
 */
import type { Sample } from "./measure.ts"
import { floor, rival } from "./servers.ts"

/** Is the median sample of one workload on one server. */
export interface Row {
  readonly workload: string
  readonly server: string
  readonly sample: Sample
}

const headings = ["workload", "server", "ops/s", "p50 ms", "p99 ms", "CPU us/request", "CPU us/op", "requests/op"]

const cells = ({ workload, server, sample }: Row): ReadonlyArray<string> => [
  workload,
  server,
  sample.opsPerSecond.toFixed(0),
  sample.p50Millis.toFixed(2),
  sample.p99Millis.toFixed(2),
  sample.cpuMicrosPerRequest?.toFixed(1) ?? "unknown",
  sample.cpuMicrosPerOp?.toFixed(1) ?? "unknown",
  sample.requestsPerOp.toFixed(2)
]

/** Lays rows out in columns: the first two to the left, the numbers to the right. */
export const table = (rows: ReadonlyArray<Row>): string => {
  const lines = [headings, ...rows.map(cells)]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))
        .join("  ")
    )
    .join("\n")
}

const times = (value: number | undefined, base: number | undefined): string =>
  value === undefined || base === undefined ? "unknown" : `${(value / base).toFixed(2)}x`

const against = (row: Row, base: Row): string =>
  `${row.workload}: ${row.server} vs ${base.server}: ` +
  `CPU/op ${times(row.sample.cpuMicrosPerOp, base.sample.cpuMicrosPerOp)}, ` +
  `p50 ${times(row.sample.p50Millis, base.sample.p50Millis)}, ` +
  `ops/s ${times(row.sample.opsPerSecond, base.sample.opsPerSecond)}`

/** Compares every server with the floor and with the rival, workload by workload, where both were measured. */
export const ratios = (rows: ReadonlyArray<Row>): string =>
  rows
    .flatMap((row) =>
      [floor, rival]
        .filter((name) => name !== row.server && row.server !== floor)
        .flatMap((name) => rows.filter((base) => base.server === name && base.workload === row.workload))
        .map((base) => against(row, base))
    )
    .join("\n")
