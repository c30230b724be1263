import { Effect, Schedule, Schema } from "effect"
import { request } from "node:http"

const revision = "2026-07-28"

export const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} }

/** What a caller sends. */
export interface Call {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly capabilities?: Readonly<Record<string, unknown>>
}

/** An answer, as it came. */
export interface Answer {
  readonly status: number
  readonly text: string
}

export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  cause: Schema.Defect()
}) {}

const headersOf = ({ method, params }: Call): Record<string, string> => {
  const name = params["name"] ?? params["taskId"]
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {})
  }
}

/**
 * Sends one request on a socket of its own, and ends when that socket has been closed. Whoever interrupts it goes
 * away: the socket is destroyed at once.
 */
export const send = (url: string, call: Call): Effect.Effect<Answer, ConnectionLost> =>
  Effect.callback<Answer, ConnectionLost>((resume) => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientCapabilities": call.capabilities ?? {}
    }
    const outgoing = request(url, { method: "POST", agent: false, headers: headersOf(call) }, (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        const answer = { status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }
        incoming.socket.destroy()
        resume(Effect.succeed(answer))
      })
    })
    outgoing.on("error", (cause) => resume(Effect.fail(new ConnectionLost({ cause }))))
    const params = { ...call.params, _meta: meta }
    outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: call.method, params }))
    return Effect.sync(() => outgoing.destroy())
  })

const Body = Schema.fromJsonString(Schema.Struct({
  id: Schema.Union([Schema.Int, Schema.Null]),
  result: Schema.optionalKey(Schema.JsonObject),
  error: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    message: Schema.String,
    data: Schema.optionalKey(Schema.Json)
  }))
}))

/** Sends one request and reads the JSON-RPC response. */
export const ask = (url: string, call: Call) =>
  Effect.flatMap(send(url, call), ({ text }) => Effect.orDie(Schema.decodeEffect(Body)(text)))

/** A task as `tasks/get` shows it. */
export const Task = Schema.Struct({
  taskId: Schema.String,
  status: Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"]),
  inputRequests: Schema.optionalKey(Schema.JsonObject),
  result: Schema.optionalKey(Schema.JsonObject),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String })),
  statusMessage: Schema.optionalKey(Schema.String)
})

/** Calls a tool that becomes a task, and reads its first state. */
export const create = (url: string, name: string, args: Readonly<Record<string, unknown>>) =>
  Effect.flatMap(
    ask(url, { method: "tools/call", params: { name, arguments: args }, capabilities: tasks }),
    ({ result }) => Effect.orDie(Schema.decodeUnknownEffect(Task)(result))
  )

/** Reads a task; dies when there is none. */
export const get = (url: string, taskId: string) =>
  Effect.flatMap(
    ask(url, { method: "tasks/get", params: { taskId }, capabilities: tasks }),
    ({ result }) => Effect.orDie(Schema.decodeUnknownEffect(Task)(result))
  )

/** Answers questions of a task. */
export const answer = (url: string, taskId: string, inputResponses: Readonly<Record<string, unknown>>) =>
  ask(url, { method: "tasks/update", params: { taskId, inputResponses }, capabilities: tasks })

/** Reads a task every 20 ms until it is as wanted, for at most a minute. */
export const until = (
  url: string,
  taskId: string,
  isWanted: (task: typeof Task.Type) => boolean
) =>
  get(url, taskId).pipe(
    Effect.repeat({ until: isWanted, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("1 minute")
  )

/** Whether a task has ended. */
export const hasEnded = ({ status }: typeof Task.Type): boolean => status !== "working" && status !== "input_required"
