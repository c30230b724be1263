/**
 * A task as it changes: one line that is redrawn each second where a person looks, and on the standard error one line
 * for each change where none does.
 *
 * @since 0.2.0
 */
import type { TaskHandle } from "@effect-mcp-tasks/client/TaskHandle"
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as CliOutput from "effect/cli/CliOutput"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import type * as CliFailure from "./CliFailure.ts"
import * as Output from "./Output.ts"

/** Back to the first column, and everything from there is gone. */
const erase = "\r\u001b[K"

const spell = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return (parts[0] === 0 ? parts.slice(1) : parts).map((part) => String(part).padStart(2, "0")).join(":")
}

const graphemes = new Intl.Segmenter()

/** As much of a text as fits into so many columns; characters of East Asia and emoji take two of them. */
const fit = (text: string, columns: number): string => {
  let shown = ""
  for (const { segment } of graphemes.segment(text)) {
    if (CliOutput.displayWidth(shown + segment) > columns) return shown
    shown += segment
  }
  return shown
}

/**
 * The line that is redrawn: for how long the task has been there, by the server's word or since `beganAt`, and what it
 * says, cut to fewer columns than the terminal has, since a line that wraps cannot be redrawn in place.
 *
 * @category text
 * @since 0.2.0
 */
export const liveLine = (
  view: TaskView.TaskView,
  { beganAt, columns, now }: { readonly beganAt: number; readonly columns: number; readonly now: number }
): string => {
  // A server whose clock is ahead must not make the time stand still.
  const from = Math.min(view.createdAt ?? beganAt, beganAt)
  const text = `${spell(now - from)}  ${Output.line(view)}`
  return columns > 0 ? fit(text, columns - 1) : text
}

/** A live line: what was last seen, and for how long the task has been at it. */
const live = Effect.gen(function*() {
  const terminal = yield* Terminal.Terminal
  const write = (text: string) => Effect.ignore(terminal.display(text))
  const beganAt = yield* Clock.currentTimeMillis
  let current: TaskView.TaskView | undefined
  const draw = Effect.gen(function*() {
    if (current === undefined) return
    const moment = { beganAt, columns: yield* terminal.columns, now: yield* Clock.currentTimeMillis }
    yield* write(`${erase}${liveLine(current, moment)}`)
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
 * Shows a task until it has ended, or until what is shown does not arrive.
 *
 * @category showing
 * @since 0.2.0
 */
export const show = <A, E>(
  handle: TaskHandle<A, E>,
  options: { readonly json: boolean; readonly questions: boolean }
): Effect.Effect<void, CliFailure.CliFailure, Terminal.Terminal | Stdio.Stdio> =>
  Effect.scoped(Effect.gen(function*() {
    const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
    const each: (view: TaskView.TaskView) => Effect.Effect<void, CliFailure.CliFailure, Stdio.Stdio> = options.json
      ? (view) => Output.json(Output.viewAsJson(view))
      : canAnimate
      ? yield* live
      : log
    // How the task ended is told by its result.
    const changes = Stream.catchCause(handle.changes, () => Stream.empty)
    yield* Stream.runForEach(changes, (view) =>
      options.questions && !options.json && canAnimate && view.status === "input_required"
        ? Effect.andThen(each(view), log(view))
        : each(view))
  }))
