/**
 * The world outside, as far as the tools of a campaign act on it: a file to which every process appends a line for
 * whatever it does. A line is written in one call, so that no crash leaves half of one, and the order is that of time.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { appendFileSync, readFileSync } from "node:fs"

/**
 * What was done, and by which attempt.
 *
 * @category schemas
 * @since 0.2.0
 */
export const Deed = Schema.Union([
  /** A handler began. */
  Schema.TaggedStruct("Run", { taskId: Schema.String, attempt: Schema.Int }),
  /** The body of a step began. */
  Schema.TaggedStruct("Begin", { taskId: Schema.String, attempt: Schema.Int, step: Schema.String }),
  /** A step was recorded, or had been. */
  Schema.TaggedStruct("Kept", { taskId: Schema.String, attempt: Schema.Int, step: Schema.String }),
  /** Something happened to a task, by the record for audit. */
  Schema.TaggedStruct("Event", { taskId: Schema.String, event: Schema.String })
])

/**
 * What was done, and by which attempt.
 *
 * @category models
 * @since 0.2.0
 */
export type Deed = typeof Deed.Type

const codec = Schema.fromJsonString(Deed)

/**
 * Writes down what was done.
 *
 * @category constructors
 * @since 0.2.0
 */
export const note = (file: string, deed: Deed): Effect.Effect<void> =>
  Effect.sync(() => appendFileSync(file, `${JSON.stringify(deed)}\n`))

/**
 * Reads all that was done.
 *
 * @category accessors
 * @since 0.2.0
 */
export const read = (file: string): Effect.Effect<ReadonlyArray<Deed>, Schema.SchemaError> =>
  Effect.suspend(() =>
    Effect.forEach(readFileSync(file, "utf8").split("\n").filter((line) => line !== ""), (line) =>
      Schema.decodeEffect(codec)(line))
  )
