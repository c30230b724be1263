/**
 * Whether the handlers of a test are at work: a tool that takes long is not a reply that is lost.
 *
 * @since 0.2.0
 */
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as alarmClock from "./alarmClock.ts"

/**
 * The handlers of a test.
 *
 * @since 0.2.0
 */
export interface HandlersAtWork {
  /** Whether a handler runs, and something is to happen on their clock: it is slow, and goes on. */
  readonly isAny: () => boolean
  /** Tools whose handlers are watched. */
  readonly watch: <E, R>(tools: Layer.Layer<TaskTools.TaskTools, E, R>) => Layer.Layer<TaskTools.TaskTools, E, R>
}

/**
 * Watches handlers, which go by a clock.
 *
 * @since 0.2.0
 */
export const make = (clock: Clock.Clock): HandlersAtWork => {
  const alarms = alarmClock.make(clock)
  let running = 0

  const watchedCall = (call: TaskTools.ToolCall): TaskTools.ToolCall => ({
    ...call,
    run: Effect.acquireUseRelease(
      Effect.sync(() => {
        running += 1
      }),
      () => Effect.provideService(call.run, Clock.Clock, alarms),
      () =>
        Effect.sync(() => {
          running -= 1
        })
    )
  })

  const watched = (tool: TaskTools.RegisteredTool): TaskTools.RegisteredTool => ({
    ...tool,
    call: (args) => Effect.map(tool.call(args), Result.map(watchedCall))
  })

  return {
    isAny: () => running > 0 && alarms.untilNextUnsafe() !== undefined,
    watch: (tools) =>
      Layer.effect(
        TaskTools.TaskTools,
        Effect.map(TaskTools.TaskTools, ({ all, get }) => ({
          all: all.map(watched),
          get: (name) => Option.map(get(name), watched)
        }))
      ).pipe(Layer.provide(tools))
  }
}
