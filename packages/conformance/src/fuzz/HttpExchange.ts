/**
 * Sending one HTTP input over a socket, and judging what comes back.
 *
 * @since 0.2.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { connect, type Socket } from "node:net"
import { type Expected, faultOf, type Message, read } from "./Expected.ts"
import type { HttpInput } from "./HttpGrammar.ts"
import { type HttpResponse, parse } from "./HttpResponses.ts"

/**
 * How an input was answered: the class of its answer, and what was wrong with it, if anything was.
 *
 * @category models
 * @since 0.2.0
 */
export interface Outcome {
  readonly kind: string
  readonly violation?: string
  /** Whether the server said that it answers no more over this connection. */
  readonly isLast?: boolean
}

/** How long an answer may take: a machine under load is slow, a lost answer never comes. */
const patience = Duration.seconds(20)

/** How long rubbish is waited for: a server may rightly wait for more of it. */
const patienceWithRubbish = Duration.seconds(1)

/** A connection, with the bytes that have come and have not been taken for an answer. */
interface Connection {
  readonly socket: Socket
  received: Buffer
  isClosed: boolean
  /** How many inputs it has carried. */
  used: number
  onChange: () => void
}

const open = (port: number): Connection => {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true })
  const connection: Connection = {
    socket,
    received: Buffer.alloc(0),
    isClosed: false,
    used: 0,
    onChange: () => undefined
  }
  socket.on("data", (chunk: Buffer) => {
    connection.received = Buffer.concat([connection.received, chunk])
    connection.onChange()
  })
  // The server may close while we still write: what it said counts.
  socket.on("error", () => undefined)
  socket.on("close", () => {
    connection.isClosed = true
    connection.onChange()
  })
  return connection
}

/**
 * A client that sends one input after the other, over one connection for as long as that is open.
 *
 * @category models
 * @since 0.2.0
 */
export interface Client {
  readonly exchange: (input: HttpInput) => Effect.Effect<Outcome>
  readonly close: Effect.Effect<void>
}

/**
 * Makes a client of the server on a port.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = (port: number): Client => {
  let connection: Connection | undefined
  const close = () => {
    connection?.socket.destroy()
    connection = undefined
  }
  const exchange = (input: HttpInput): Effect.Effect<Outcome> =>
    Effect.suspend(() => {
      if (connection?.isClosed === true) close()
      const current = connection ??= open(port)
      if (current.received.length > 0) {
        close()
        return Effect.succeed(extra(current.received))
      }
      return Effect.flatMap(sent(input, current), (outcome) => {
        // A server may close a connection after a request that it did not read to its end.
        const isUnanswered = current.isClosed && current.used > 0 && current.received.length === 0
        current.used++
        if (input._tag !== "complete" || current.isClosed || outcome.isLast === true) close()
        return isUnanswered && input._tag === "complete" ? exchange(input) : Effect.succeed(outcome)
      })
    })
  return { exchange, close: Effect.sync(close) }
}

const sent = (input: HttpInput, connection: Connection): Effect.Effect<Outcome> =>
  Effect.callback<Outcome>((resume) => {
    const { socket } = connection
    const finish = (outcome: Outcome) => {
      connection.onChange = () => undefined
      resume(Effect.succeed(outcome))
    }
    connection.onChange = () => {
      const outcome = judge(input, connection)
      if (outcome !== undefined) finish(outcome)
    }
    send(socket, input, () => {
      if (input._tag === "leaves") finish({ kind: "left" })
      else if (input._tag === "rubbish") socket.end()
    })
    connection.onChange()
  }).pipe(
    Effect.timeoutOrElse({
      duration: input._tag === "rubbish" ? patienceWithRubbish : patience,
      orElse: () => Effect.sync(() => late(input, connection.received))
    })
  )

const send = (socket: Socket, { bytes, cuts, isSlow }: HttpInput, done: () => void): void => {
  const offsets = [0, ...cuts, bytes.length]
  const next = (index: number): void => {
    if (index >= offsets.length || socket.destroyed) return done()
    const part = bytes.subarray(offsets[index - 1], offsets[index])
    socket.write(part, () => {
      if (isSlow) setTimeout(() => next(index + 1), 3)
      else setImmediate(() => next(index + 1))
    })
  }
  next(1)
}

/** Of rubbish a server may wait for more; what it has said until then must be responses. */
const late = (input: HttpInput, received: Buffer): Outcome =>
  input._tag === "rubbish"
    ? rubbish(received)
    : violated(`no whole answer in time; so far: ${received.toString("latin1").slice(0, 200)}`)

const extra = (bytes: Buffer): Outcome =>
  violated(`bytes after the answer before: ${bytes.toString("latin1").slice(0, 200)}`)

const violated = (violation: string): Outcome => ({ kind: "violation", violation })

/** The outcome, once there is one; an answer that is taken leaves the connection. */
const judge = (input: HttpInput, connection: Connection): Outcome | undefined => {
  const { isClosed, received } = connection
  if (input._tag === "leaves") return isClosed ? { kind: "left" } : undefined
  if (input._tag === "rubbish") return isClosed ? rubbish(received) : undefined
  if (isClosed && received.length === 0) return violated("closed without an answer")
  const parsed = parse(received, isClosed)
  if (parsed === "incomplete") return undefined
  if ("fault" in parsed) return violated(parsed.fault)
  connection.received = received.subarray(parsed.size)
  const { expected, httpStatus } = input
  if (parsed.status !== httpStatus) {
    return violated(`the status ${parsed.status}, not ${httpStatus}: ${parsed.body.slice(0, 200)}`)
  }
  const fault = faultOfBody(expected, parsed)
  if (fault !== undefined) return violated(`${fault}: ${parsed.body.slice(0, 300)}`)
  return { kind: `${parsed.status}${codeOf(expected)}`, isLast: parsed.headers.get("connection") === "close" }
}

const codeOf = (expected: Expected): string => expected._tag === "Error" ? ` ${expected.code}` : ""

/** Whatever the bytes were, what comes back are responses. */
const rubbish = (received: Buffer): Outcome => {
  let rest = received
  let first: number | undefined
  while (rest.length > 0) {
    const parsed = parse(rest, true)
    if (parsed === "incomplete" || "fault" in parsed) {
      return violated(`no response: ${rest.toString("latin1").slice(0, 200)}`)
    }
    first ??= parsed.status
    rest = rest.subarray(parsed.size)
  }
  return { kind: `rubbish: ${first ?? "nothing"}` }
}

const faultOfBody = (expected: Expected, { body, headers }: HttpResponse): string | undefined => {
  if (expected._tag === "Silence") return body === "" ? undefined : "a body where none is due"
  const type = headers.get("content-type")
  if (type === "application/json") return expectsEvents(expected) ? "one document" : faultOfText(expected, body)
  if (type !== "text/event-stream") return `the content type ${type}`
  if (headers.get("cache-control") !== "no-store") return "an event stream that may be stored"
  return faultOfEvents(expected, body)
}

const expectsEvents = (expected: Expected): boolean =>
  expected._tag === "Result" && expected.precededBy !== undefined

const faultOfText = (expected: Expected, text: string): string | undefined => {
  const message = read(text)
  return message === undefined ? "no message" : faultOf(expected, message, text)
}

const faultOfEvents = (expected: Expected, body: string): string | undefined => {
  if (!/^(?:data: [^\n]+\n\n|:\n\n)*$/.test(body)) return "no event stream"
  const texts = body.split("\n\n").filter((event) => event.startsWith("data: ")).map((event) => event.slice(6))
  const messages = texts.map(read)
  if (messages.includes(undefined)) return "an event that is no message"
  const methods = messages.slice(0, -1).map(methodOf)
  const due = expected._tag === "Result" ? expected.precededBy ?? [] : []
  if (JSON.stringify(methods) !== JSON.stringify(due)) return `the notifications ${methods.join(", ")}`
  return faultOfText(expected, texts.at(-1) ?? "")
}

const methodOf = (message: Message | undefined): string =>
  message !== undefined && "method" in message ? message.method : "an answer"
