/**
 * What an operator must hear of the handlers of a process, where many of them meet with the same: one entry of the log
 * for all of a second, with how many there were and the id of one.
 *
 * @since 0.2.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** What a restarted store has lost, or a process that stood still, is found within one round, or just after it. */
const gatheringTime = Duration.seconds(1)

const lost = "Tasks that ran here are gone from the store, and had not ended; their handlers are stopped"
const replaced = "Others have taken up tasks that ran here: this process seemed to be dead. Their handlers are stopped"

/**
 * What is told of handlers.
 *
 * @since 0.2.0
 */
export class Notices {
  private readonly lost: Array<string> = []
  private readonly replaced: Array<string> = []
  private isGathering = false
  private readonly scope: Scope.Scope
  private readonly lookAround: Effect.Effect<unknown, unknown>

  /** Gathers in a scope; whoever hears of one lost task looks around for the others. */
  constructor(scope: Scope.Scope, lookAround: Effect.Effect<unknown, unknown>) {
    this.scope = scope
    this.lookAround = lookAround
  }

  /** Nobody removes a task that has not ended: the store has lost it, and maybe others. */
  readonly noteLost = (taskId: string): void => {
    this.lost.push(taskId)
  }

  readonly noteReplaced = (taskId: string): void => {
    this.replaced.push(taskId)
  }

  /** Has what was noted be told soon. */
  readonly tell: Effect.Effect<void> = Effect.suspend(() => {
    if (this.isGathering || (this.lost.length === 0 && this.replaced.length === 0)) return Effect.void
    this.isGathering = true
    const gathering = Effect.gen({ self: this }, function*() {
      yield* Effect.sleep(gatheringTime)
      if (this.lost.length > 0) yield* Effect.ignoreCause(this.lookAround)
      this.isGathering = false
      yield* this.tellNow
    })
    return Effect.asVoid(Effect.forkIn(gathering, this.scope))
  })

  /** Tells it at once: the process goes away. */
  readonly tellNow: Effect.Effect<void> = Effect.suspend(() =>
    Effect.andThen(
      said(this.lost.splice(0), Effect.logError(lost)),
      said(this.replaced.splice(0), Effect.logWarning(replaced))
    ))
}

const said = (taskIds: ReadonlyArray<string>, entry: Effect.Effect<void>): Effect.Effect<void> => {
  const [taskId] = taskIds
  return taskId === undefined ? Effect.void : Effect.annotateLogs(entry, { tasks: taskIds.length, taskId })
}
