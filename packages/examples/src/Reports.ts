/**
 * The outside world of the example tools: a data base, a summarizer and a file, none of which exists.
 *
 * Each operation takes its time and says in the log that it ran. So whoever reads the log sees which work was done,
 * in which process, and that nothing was done twice.
 *
 * @since 0.1.0
 */
import { Context, Effect, Layer, Schema } from "effect"

/**
 * The summarizer did not answer in time.
 *
 * @since 0.1.0
 */
export class SummarizerTimeout extends Schema.TaggedError<SummarizerTimeout>()("SummarizerTimeout", {}) {}

/**
 * What the example tools ask of the outside world.
 *
 * @since 0.1.0
 */
export class Reports extends Context.Service<Reports, {
  /** Asks the data base for so many rows, and says how many there were. */
  readonly query: (rows: number) => Effect.Effect<number>
  /** Writes rows to a file, over what is there, and says how many they were. */
  readonly write: (file: string, rows: number) => Effect.Effect<number>
  /** Summarizes a report; `simulateFail` makes the summarizer time out. */
  readonly summarize: (
    reportId: string,
    options: { readonly simulateFail: boolean }
  ) => Effect.Effect<string, SummarizerTimeout>
}>()("@effect-mcp-tasks/examples/Reports") {}

/**
 * Pretends: a second for a query or a file, one and a half for a summary.
 *
 * @since 0.1.0
 */
export const layer: Layer.Layer<Reports> = Layer.succeed(Reports, {
  query: Effect.fnUntraced(function*(rows) {
    yield* Effect.logInfo(`Querying ${rows} rows`)
    yield* Effect.sleep("1 second")
    return rows
  }),
  write: Effect.fnUntraced(function*(file, rows) {
    yield* Effect.logInfo(`Writing ${rows} rows to ${file}`)
    yield* Effect.sleep("1 second")
    return rows
  }),
  summarize: Effect.fnUntraced(function*(reportId, { simulateFail }) {
    yield* Effect.logInfo(`Summarizing report ${reportId}`)
    yield* Effect.sleep("1500 millis")
    return simulateFail ? yield* new SummarizerTimeout() : `Report ${reportId} has something to say.`
  })
})
