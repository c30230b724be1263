/**
 * Sending messages as lines, many at a time, and judging what comes back.
 *
 * @since 0.2.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ChildProcess } from "node:child_process"
import type { Draw } from "./Draw.ts"
import { type Expected, faultOf, type Message, read } from "./Expected.ts"
import { maxBodyBytes } from "./HttpGrammar.ts"
import type { Outcome } from "./HttpExchange.ts"
import * as MessageGrammar from "./MessageGrammar.ts"

/**
 * One line, without its line feed, and what is to come back.
 *
 * @category models
 * @since 0.2.0
 */
export interface Line {
  readonly number: number
  readonly bytes: Uint8Array
  readonly expected: Expected
}

const blanks = ["", " ", "\t"] as const

/** Names a request that there is not. */
const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}`

const utf8 = new TextEncoder()

/**
 * Draws a line. Its id is its own in the whole run.
 *
 * @category constructors
 * @since 0.2.0
 */
export const draw = (draw: Draw, number: number): Line => {
  const id = draw.oneIn(2) ? number : `line ${number}`
  if (draw.oneIn(40)) {
    const nothing = draw.pick(["", " ", "\t", "\r", cancelled])
    return { number, bytes: utf8.encode(nothing), expected: { _tag: "Silence" } }
  }
  const { body, expected } = MessageGrammar.draw(draw, { id, blanks, maxBytes: maxBodyBytes })
  return { number, bytes: draw.oneIn(10) ? Buffer.concat([body, utf8.encode("\r")]) : body, expected }
}

/** How long a batch may take. */
const patience = Duration.seconds(30)

/**
 * The standard streams of a server.
 *
 * @category models
 * @since 0.2.0
 */
export interface Lines {
  /** Sends lines at once, cut anywhere, and waits until each has its answer. */
  readonly exchange: (lines: ReadonlyArray<Line>, draw: Draw) => Effect.Effect<ReadonlyArray<readonly [Line, Outcome]>>
}

/** What is still to come for the lines of a batch. */
interface Waiting {
  readonly byId: Map<string, Line>
  /** Lines that are answered under no id: which answer is whose cannot be told, only how many of which code. */
  readonly nameless: Array<Line>
  readonly heard: Map<string, Array<string>>
  readonly outcomes: Array<readonly [Line, Outcome]>
  readonly done: Deferred.Deferred<void>
}

const keyOf = (id: unknown): string => JSON.stringify(id)

/**
 * Takes the standard streams of a server in hand.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (child: ChildProcess): Lines => {
  let waiting: Waiting | undefined
  let rest = ""
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (waiting !== undefined) hear(waiting, line)
  })
  const exchange = Effect.fnUntraced(function*(lines: ReadonlyArray<Line>, draw: Draw) {
    const now = begin(lines)
    waiting = now
    const bytes = Buffer.concat(lines.flatMap((line) => [line.bytes, utf8.encode("\n")]))
    const offsets = [0, ...draw.cuts(bytes.length), bytes.length]
    for (const [index, end] of offsets.slice(1).entries()) child.stdin?.write(bytes.subarray(offsets[index], end))
    if (now.byId.size + now.nameless.length > 0) yield* Effect.timeoutOption(Deferred.await(now.done), patience)
    // Silence cannot be awaited. What comes too much later is noticed all the same: its id is unknown by then.
    yield* Effect.sleep("5 millis")
    waiting = undefined
    for (const line of [...now.byId.values(), ...now.nameless]) {
      now.outcomes.push([line, { kind: "violation", violation: "no answer in time" }])
    }
    return now.outcomes
  })
  return { exchange }
}

const begin = (lines: ReadonlyArray<Line>): Waiting => {
  const now: Waiting = { byId: new Map(), nameless: [], heard: new Map(), outcomes: [], done: Deferred.makeUnsafe() }
  for (const line of lines) {
    const { expected } = line
    if (expected._tag === "Silence") now.outcomes.push([line, { kind: "silence" }])
    else if (expected.id === null) now.nameless.push(line)
    else now.byId.set(keyOf(expected.id), line)
  }
  return now
}

const hear = (waiting: Waiting, text: string): void => {
  const message = read(text)
  if (message === undefined) return stray(waiting, text, "no message")
  if ("method" in message) return hearNotification(waiting, message, text)
  const outcome = message.id === null ? hearNameless(waiting, message, text) : hearAnswer(waiting, message, text)
  if (outcome !== undefined) waiting.outcomes.push(outcome)
  if (waiting.byId.size + waiting.nameless.length === 0) Deferred.doneUnsafe(waiting.done, Effect.void)
}

type Answer = Exclude<Message, { readonly method: string }>

type Notification = Extract<Message, { readonly method: string }>

/** A message that belongs to no line of the batch. */
const stray = (waiting: Waiting, text: string, what: string): void => {
  const line = { number: -1, bytes: utf8.encode(text), expected: { _tag: "Silence" as const } }
  waiting.outcomes.push([line, { kind: "violation", violation: `${what}: ${text.slice(0, 300)}` }])
}

const hearAnswer = (waiting: Waiting, message: Answer, text: string): readonly [Line, Outcome] | undefined => {
  const key = keyOf(message.id)
  const line = waiting.byId.get(key)
  if (line === undefined) {
    stray(waiting, text, "an answer to nothing that was asked")
    return undefined
  }
  waiting.byId.delete(key)
  const { expected } = line
  const heard = waiting.heard.get(key) ?? []
  const due = expected._tag === "Result" ? expected.precededBy ?? [] : []
  const fault = faultOf(expected, message, text) ??
    (JSON.stringify(heard) === JSON.stringify(due) ? undefined : `the notifications ${heard.join(", ")}`)
  return [line, fault === undefined ? { kind: kindOf(message) } : { kind: "violation", violation: `${fault}: ${text}` }]
}

const hearNameless = (waiting: Waiting, message: Answer, text: string): readonly [Line, Outcome] | undefined => {
  const index = waiting.nameless.findIndex(({ expected }) => faultOf(expected, message, text) === undefined)
  const line = waiting.nameless[index]
  if (line === undefined) {
    stray(waiting, text, "an answer without id to nothing that was sent")
    return undefined
  }
  waiting.nameless.splice(index, 1)
  return [line, { kind: kindOf(message) }]
}

const kindOf = (message: Answer): string => "error" in message ? `error ${message.error.code}` : "result"

/** Notes a notification for the request it belongs to; after a subscription has ended, its end is told once more. */
const hearNotification = (waiting: Waiting, { method, params }: Notification, text: string): void => {
  const { _meta, progressToken, requestId } = params
  if (method === "notifications/cancelled" && requestId !== undefined) return
  const key = keyOf(progressToken ?? Object(_meta)["io.modelcontextprotocol/subscriptionId"])
  if (!waiting.byId.has(key)) return stray(waiting, text, "a notification for nothing that is asked")
  waiting.heard.set(key, [...waiting.heard.get(key) ?? [], method])
}
