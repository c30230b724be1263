/**
 * What a test may do to one process of a fleet: cut it off from what it shares, mend it, and let single operations go
 * wrong.
 *
 * @since 0.2.0
 */
import type * as TaskQueue from "@effect-mcp-tasks/engine/TaskQueue"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskWorkers from "@effect-mcp-tasks/engine/TaskWorkers"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Option from "effect/Option"
import * as PersistedQueue from "effect/persistence/PersistedQueue"

const failure = (operation: string, reason: TaskStore.TaskStoreError["reason"]): unknown => {
  const cause = new Error(`${operation} was cut off`)
  if (["beat", "beats", "leave"].includes(operation)) {
    return new TaskWorkers.WorkersUnavailable({ operation: "beat", cause })
  }
  if (["offer", "take", "createWith"].includes(operation)) {
    return new PersistedQueue.PersistedQueueError({ message: "The queue was cut off", cause })
  }
  return new TaskStore.TaskStoreError({ operation: "read", reason, cause })
}

/**
 * The way between one process and what it shares with others: each operation goes through it, and each answer back.
 *
 * @category models
 * @since 0.2.0
 */
export class Link {
  private readonly isUp = Latch.makeUnsafe(true)
  private readonly isDown = Latch.makeUnsafe(false)
  /** Whether the signals that others sent are lost on the way. */
  isDeaf = false
  /** What becomes of an operation, by its name; tests replace it. */
  disturb: <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = (
    _operation,
    effect
  ) => effect

  /** From now on nothing reaches the shared services, and no answer comes back. */
  readonly cut = (): void => {
    this.isUp.closeUnsafe()
    this.isDown.openUnsafe()
  }

  /** Fails as an operation does while the storage is away, or for another reason of its own. */
  readonly fail = <E>(
    operation: string,
    reason: TaskStore.TaskStoreError["reason"] = "Unavailable"
  ): Effect.Effect<never, E> => Effect.fail(failure(operation, reason) as E)

  /** Undoes `cut`: what waited goes on. */
  readonly mend = (): void => {
    this.isDown.closeUnsafe()
    this.isUp.openUnsafe()
  }

  /** Whether nothing reaches the shared services at the moment. */
  get isCut(): boolean {
    return !this.isUp.isOpen()
  }

  /** Waits until the link is cut. */
  readonly whenDown: Effect.Effect<void> = Effect.suspend(() => this.isDown.await)

  /** Does an operation of a shared service, by its name, as this link lets it. */
  readonly through = <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const disturbed = Effect.suspend(() => this.disturb(operation, effect))
    return Effect.andThen(this.isUp.await, Effect.onExit(disturbed, () => this.isUp.await))
  }

  /** A service whose every operation goes through the link. */
  readonly gate = <S extends object>(service: S): S =>
    Object.fromEntries(
      Object.entries(service).map(([name, member]) => [
        name,
        typeof member === "function"
          ? (...args: ReadonlyArray<unknown>) => this.through(name, member(...args))
          : Effect.isEffect(member) ? this.through(name, member) : member
      ])
    ) as S

  /** A queue of which a process that is down takes nothing. */
  readonly gateQueue = (queue: TaskQueue.TaskQueue["Service"]): TaskQueue.TaskQueue["Service"] => ({
    ...this.gate(queue),
    take: <A, E, R>(use: (taskId: string) => Effect.Effect<A, E, R>) => {
      const once = Effect.raceFirst(Effect.asSome(queue.take(use)), Effect.as(this.whenDown, Option.none<A>()))
      return Effect.gen({ self: this }, function*() {
        while (true) {
          const taken = yield* this.through("take", once)
          if (Option.isSome(taken)) return taken.value
        }
      })
    }
  })
}
