/**
 * Where the person is: at the standard output, or at the standard error where the output is redirected.
 *
 * @since 0.2.0
 */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { WriteStream } from "node:tty"

const standardError = 2

/** How wide the terminal is that the standard error writes to. The stream is only asked, and not written to. */
const columns = Effect.try(() => new WriteStream(standardError)).pipe(
  Effect.map((stream) => stream.columns),
  Effect.orElseSucceed(() => 0)
)

/** The terminal of this process, which shows on the standard error. */
const onStandardError = Layer.effect(
  Terminal.Terminal,
  Effect.gen(function*() {
    const terminal = yield* NodeTerminal.make()
    const { stderr } = yield* Stdio.Stdio
    return Terminal.make({
      ...terminal,
      columns: yield* Effect.cached(columns),
      display: (text) => Stream.run(Stream.make(text), stderr())
    })
  })
)

/**
 * The terminal and what it can do. A redirected standard output keeps nobody from being asked, as long as the standard
 * input and the standard error are a terminal.
 *
 * @category layers
 * @since 0.2.0
 */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  const term = yield* Effect.orElseSucceed(Config.String("TERM"), () => "")
  const isOutside = !(yield* stdio.stdoutIsTerminal) && (yield* stdio.stderrIsTerminal) && term !== "dumb"
  if (!isOutside) return Layer.empty
  return Layer.mergeAll(
    onStandardError,
    Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
      canColor: false,
      canAnimate: true,
      canPrompt: yield* stdio.stdinIsTerminal
    })
  )
}))
