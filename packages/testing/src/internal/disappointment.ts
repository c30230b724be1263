/**
 * What a test waits for or answers, and what cannot be.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as Schema from "effect/Schema"

const overran = ". Something real, such as a timer or a request of a handler, took longer than two seconds: the " +
  "clock of the test went on without it, to the end of the task where nothing came before"

/**
 * The task will not get into the status that was waited for, since it has ended; or the call was answered directly.
 *
 * @since 0.1.0
 */
export class NeverReached extends Schema.TaggedError<NeverReached>()("NeverReached", {
  wanted: Schema.String,
  /** What there is instead, as the client sees it. */
  seen: Schema.Json,
  /** Whether something real took longer than two seconds before, so that the clock went on without it. */
  hasOverrun: Schema.optionalKey(Schema.Boolean)
}) {
  override get message(): string {
    const hint = this.hasOverrun === true ? overran : ""
    return `Waited for ${this.wanted}, which cannot come any more: ${JSON.stringify(this.seen)}${hint}`
  }
}

/**
 * The task does not ask what was to be answered. A server ignores such an answer, so that a mistaken key would go
 * unnoticed: nothing was sent.
 *
 * @since 0.2.0
 */
export class NotAsked extends Schema.TaggedError<NotAsked>()("NotAsked", {
  key: Schema.String,
  status: Task.TaskStatus,
  /** The keys under which the task asks. */
  asked: Schema.Array(Schema.String)
}) {
  override get message(): string {
    const instead = this.asked.length === 0 ? `it is ${this.status}` : `it asks under ${JSON.stringify(this.asked)}`
    return `The task asks nothing under ${JSON.stringify(this.key)}: ${instead}`
  }
}
