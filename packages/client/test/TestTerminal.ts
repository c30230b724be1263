/** A terminal with a user who presses the keys that a test says, one after the other. */
import { NodeServices } from "@effect/platform-node"
import { type Cause, Effect, Option, Queue, Terminal } from "effect"
import type { Prompt } from "effect/cli"

/** A key. */
export type Press = Terminal.UserInput

const key = (name: string, input?: string): Press => ({
  input: Option.fromUndefinedOr(input),
  key: { name, ctrl: false, meta: false, shift: false }
})

/** The keys that are not letters. */
export const keys = {
  enter: key("return"),
  up: key("up"),
  down: key("down"),
  space: key("space", " "),
  backspace: key("backspace"),
  escape: key("escape")
}

/** The keys of a text. */
export const type = (text: string): ReadonlyArray<Press> => Array.from(text, (letter) => key(letter, letter))

/** Runs an effect at a terminal, and gives back what it came to and what was shown. */
export const run = <A, E>(
  effect: Effect.Effect<A, E, Prompt.Environment>,
  presses: ReadonlyArray<Press>
): Effect.Effect<{ readonly value: A; readonly shown: string }, E> =>
  Effect.gen(function*() {
    let shown = ""
    // Each prompt takes the keys that it needs, and leaves the others to the next one. Escape ends the input.
    const typed = yield* Queue.unbounded<Terminal.UserInput, Cause.Done>()
    yield* Queue.offerAll(typed, presses.filter(({ key: { name } }) => name !== "escape"))
    yield* Queue.end(typed)
    const terminal = Terminal.make({
      columns: Effect.succeed(80),
      rows: Effect.succeed(24),
      size: Queue.unbounded<Terminal.Size, Cause.Done>(),
      readInput: Effect.succeed(typed),
      readLine: Effect.fail(new Terminal.QuitError({})),
      display: (text) =>
        Effect.sync(() => {
          shown += text
        })
    })
    const value = yield* Effect.provideService(effect, Terminal.Terminal, terminal)
    return { value, shown }
  }).pipe(Effect.provide(NodeServices.layer))
