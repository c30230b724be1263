/**
 * A task as it changes: one line that is redrawn each second where a person looks, and on the standard error one line
 * for each change where none does.
 *
 * @since 0.2.0
 */
import type { TaskHandle } from "@effect-mcp-tasks/client/TaskHandle"
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as Output from "./Output.ts"

/** Back to the first column, and everything from there is gone. */
const erase = "\r\u001b[K"

const spell = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return (parts[0] === 0 ? parts.slice(1) : parts).map((part) => String(part).padStart(2, "0")).join(":")
}

/** A live line: what was last seen, and for how long the task has been at it. */
const live = Effect.gen(function*() {
  const terminal = yield* Terminal.Terminal
  const write = (text: string) => Effect.ignore(terminal.display(text))
  const startedAt = yield* Clock.currentTimeMillis
  let current: TaskView.TaskView | undefined
  const draw = Effect.gen(function*() {
    if (current === undefined) return
    const elapsed = spell((yield* Clock.currentTimeMillis) - startedAt)
    // Longer than the terminal is wide, it could not be redrawn in place.
    const text = `${elapsed}  ${Output.line(current).replaceAll("\n", " ")}`
    yield* write(`${erase}${text.slice(0, Math.max(20, (yield* terminal.columns) - 1))}`)
  })
  yield* Effect.addFinalizer(() => write(erase))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(draw, Effect.sleep(Duration.seconds(1)))))
  return (view: TaskView.TaskView) =>
    Effect.suspend(() => {
      current = view
      if (view.status !== "input_required") return draw
      // A question is put by whoever answers it, and must not be drawn over.
      current = undefined
      return write(erase)
    })
})

const log = (view: TaskView.TaskView) =>
  Effect.flatMap(DateTime.now, (now) => Console.error(`${DateTime.formatIso(now)}  ${Output.line(view)}`))

/**
 * Shows a task until it has ended.
 *
 * @category showing
 * @since 0.2.0
 */
export const show = <A, E>(
  handle: TaskHandle<A, E>,
  options: { readonly json: boolean; readonly questions: boolean }
): Effect.Effect<void, never, Terminal.Terminal> =>
  Effect.gen(function*() {
    const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
    const each = options.json
      ? (view: TaskView.TaskView) => Output.json(Output.viewAsJson(view))
      : canAnimate
      ? yield* live
      : log
    yield* Stream.runForEach(handle.changes, (view) =>
      options.questions && !options.json && canAnimate && view.status === "input_required"
        ? Effect.andThen(each(view), log(view))
        : each(view))
  }).pipe(
    Effect.scoped,
    // How the task ended is told by its result.
    Effect.ignore
  )
