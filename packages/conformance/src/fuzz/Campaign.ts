/**
 * A run of the fuzzer: so many inputs from a seed against a server, and what came of them.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import { Draw } from "./Draw.ts"
import * as HttpExchange from "./HttpExchange.ts"
import * as HttpGrammar from "./HttpGrammar.ts"
import * as StdioExchange from "./StdioExchange.ts"
import * as Target from "./Target.ts"

/**
 * Over what a server is reached.
 *
 * @category models
 * @since 0.2.0
 */
export type Transport = "http" | "stdio"

/**
 * What to send.
 *
 * @category models
 * @since 0.2.0
 */
export interface Plan {
  readonly transport: Transport
  readonly seed: number
  readonly inputs: number
  /** The one input to send, to look at it again. */
  readonly only?: number | undefined
}

/**
 * Something that a server must not do.
 *
 * @category models
 * @since 0.2.0
 */
export interface Violation {
  /** Which input it was; -1 for what belongs to none. */
  readonly number: number
  readonly what: string
  /** The input as it was sent, with everything but printable characters escaped. */
  readonly input: string
}

/**
 * What came of a run.
 *
 * @category models
 * @since 0.2.0
 */
export interface Report {
  readonly inputs: number
  /** How many inputs were answered in which way. */
  readonly classes: ReadonlyMap<string, number>
  readonly violations: ReadonlyArray<Violation>
  /** How the server was after the first tenth of the inputs, and in the end. */
  readonly warm: Target.State
  readonly end: Target.State
}

/** How many inputs are under way at a time. */
const concurrency = 16

/** Lines that are sent at once. */
const batch = 100

/** How much the heap may grow, in bytes: code is compiled and caches fill, but a leak grows with the inputs. */
const tolerance = 24 * 1024 * 1024

const tallied = () => {
  const classes = new Map<string, number>()
  const violations: Array<Violation> = []
  const note = (number: number, bytes: Uint8Array, { kind, violation }: HttpExchange.Outcome) => {
    classes.set(kind, (classes.get(kind) ?? 0) + 1)
    if (violation !== undefined) violations.push({ number, what: violation, input: shown(bytes) })
  }
  return { classes, violations, note }
}

const shown = (bytes: Uint8Array): string => JSON.stringify(Buffer.from(bytes).toString("latin1")).slice(0, 2_000)

type Note = ReturnType<typeof tallied>["note"]

const numbers = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)

/** Every client takes the next input as soon as it has the answer to the last. */
const overHttp = (port: number, seed: number, note: Note) => (inputs: ReadonlyArray<number>) => {
  const rest = inputs.values()
  return Effect.forEach(numbers(0, concurrency), () => {
    const client = HttpExchange.make(port)
    const next = Effect.suspend(() => {
      const { done, value: number = 0 } = rest.next()
      if (done === true) return Effect.succeed(false)
      const draw = new Draw(seed, number)
      const input = HttpGrammar.draw(draw, draw.oneIn(2) ? number : `input ${number}`, port)
      return Effect.map(client.exchange(input), (outcome) => {
        note(number, input.bytes, outcome)
        return true
      })
    })
    return Effect.ensuring(Effect.repeat(next, { while: (goesOn) => goesOn }), client.close)
  }, { concurrency, discard: true })
}

const overStdio = (lines: StdioExchange.Lines, seed: number, note: Note) => (inputs: ReadonlyArray<number>) =>
  Effect.forEach(numbers(0, Math.ceil(inputs.length / batch)), (index) => {
    const some = inputs.slice(index * batch, (index + 1) * batch)
    const drawn = some.map((number) => StdioExchange.draw(new Draw(seed, number), number))
    return Effect.map(lines.exchange(drawn, new Draw(seed, -1 - index)), (outcomes) => {
      for (const [line, outcome] of outcomes) note(line.number, line.bytes, outcome)
    })
  }, { discard: true })

/** What the server holds that no input holds any more. */
const leaks = (warm: Target.State, end: Target.State): ReadonlyArray<string> => [
  ...(end.connections > 0 ? [`${end.connections} connections are left open`] : []),
  ...(end.listeners > 0 ? [`${end.listeners} subscriptions are left open`] : []),
  ...(end.heap - warm.heap > tolerance ? [`the heap has grown from ${warm.heap} to ${end.heap} bytes`] : [])
]

/**
 * Runs a plan against a server of its own.
 *
 * @category running
 * @since 0.2.0
 */
export const run = ({ inputs, only, seed, transport }: Plan): Effect.Effect<Report, Target.TargetLost> =>
  Effect.scoped(Effect.gen(function*() {
    const target = yield* Target.start(transport)
    const { classes, note, violations } = tallied()
    const send = transport === "http"
      ? overHttp(target.port, seed, note)
      : overStdio(StdioExchange.make(target.child), seed, note)
    const all = only === undefined ? numbers(0, inputs) : [only]
    const tenth = Math.ceil(all.length / 10)
    yield* send(all.slice(0, tenth))
    const warm = yield* target.state
    yield* send(all.slice(tenth))
    // Tasks of the last inputs live for a second, and sockets take a moment to close.
    yield* Effect.sleep("3 seconds")
    const end = yield* target.state
    for (const what of leaks(warm, end)) violations.push({ number: -1, what, input: "" })
    return { inputs: all.length, classes, violations, warm, end }
  }))
