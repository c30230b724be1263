/** An endpoint of Streamable HTTP as a client sees it, header by header and event by event. */
import { type Cause, Effect, Queue, Schema, type Scope } from "effect"
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http"
import { type Connection, Message, type Raw, type Sending } from "./Connection.ts"

const NamedRequest = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  params: Schema.optionalKey(Schema.Struct({
    name: Schema.optionalKey(Schema.Unknown),
    taskId: Schema.optionalKey(Schema.Unknown)
  }))
}))

/** The headers that fit a body, as far as it is a request. */
const fitting = (body: string): Record<string, string> => {
  const read = Schema.decodeUnknownOption(NamedRequest)(body)
  if (read._tag === "None") return {}
  const { method, params } = read.value
  const name = method === "tools/call" ? params?.name : method.startsWith("tasks/") ? params?.taskId : undefined
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": encoded(name) } : {})
  }
}

const encoded = (name: string): string =>
  /^[\x21-\x7e]*$/.test(name) ? name : `=?base64?${Buffer.from(name).toString("base64")}?=`

/** What a proxy or Node itself adds to an answer, and what no client could tell anything by. */
const incidental = new Set(["date", "connection", "keep-alive"])

const lasting = (headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !incidental.has(name)))

const headersOf = (body: string, { as = "ada", headers = {} }: Sending): Record<string, string> => {
  const all: Readonly<Record<string, string | undefined>> = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    authorization: `Bearer ${as}`,
    ...fitting(body),
    ...headers
  }
  return Object.fromEntries(Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined))
}

/** The messages of an event stream, or the one of a document, as they come. */
const messagesOf = (incoming: IncomingMessage, messages: Queue.Queue<typeof Message.Type, Cause.Done>) => {
  const isStream = incoming.headers["content-type"] === "text/event-stream"
  let text = ""
  const offer = (json: string) => Queue.offerUnsafe(messages, Schema.decodeUnknownSync(Message)(json))
  incoming.setEncoding("utf8")
  incoming.on("data", (chunk: string) => {
    text += chunk
    if (!isStream) return
    const events = text.split("\n\n")
    text = events.pop() ?? ""
    for (const event of events) if (event.startsWith("data: ")) offer(event.slice("data: ".length))
  })
  incoming.on("end", () => {
    if (!isStream) offer(text)
    Queue.endUnsafe(messages)
  })
  // A client that goes away breaks its own stream.
  incoming.on("error", () => Queue.endUnsafe(messages))
}

/** Makes the two ways to ask an endpoint: for one document, and message by message. */
export const endpointOf = Effect.fnUntraced(function*(
  url: string
): Effect.fn.Return<Pick<Connection, "send" | "open">, never, Scope.Scope> {
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true })),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const post = (body: string, sending: Sending, answered: (incoming: IncomingMessage) => void) => {
    const options = { method: "POST", agent: sending.apart !== true && agent, headers: headersOf(body, sending) }
    const outgoing = request(url, options, answered)
    outgoing.end(body)
    return outgoing
  }
  const send: Connection["send"] = (body, sending = {}) =>
    Effect.callback<Raw>((resume) => {
      const outgoing = post(body, sending, (incoming) => {
        const received: Array<Buffer> = []
        incoming.on("data", (chunk: Buffer) => received.push(chunk))
        incoming.on("end", () => {
          const text = Buffer.concat(received).toString("utf8")
          resume(Effect.succeed({ status: incoming.statusCode, headers: lasting(incoming.headers), text }))
        })
      })
      outgoing.on("error", (cause) => resume(Effect.die(cause)))
      return Effect.sync(() => outgoing.destroy())
    })
  const open: Connection["open"] = Effect.fnUntraced(function*(body, sending = {}) {
    const messages = yield* Queue.unbounded<typeof Message.Type, Cause.Done>()
    const { incoming, leave } = yield* Effect.acquireRelease(
      Effect.callback<{ readonly incoming: IncomingMessage; readonly leave: Effect.Effect<void> }>((resume) => {
        const outgoing = post(body, { ...sending, apart: true }, (incoming) => {
          messagesOf(incoming, messages)
          resume(Effect.succeed({ incoming, leave: Effect.sync(() => outgoing.destroy()) }))
        })
        outgoing.on("error", () => Queue.endUnsafe(messages))
      }),
      ({ leave }) => leave
    )
    return {
      status: incoming.statusCode,
      headers: lasting(incoming.headers),
      next: Queue.take(messages),
      leave
    }
  })
  return { send, open }
})
