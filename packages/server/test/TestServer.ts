/** A server over real layers, asked directly or over loopback HTTP, and the requests that tests send it. */
import { McpProtocol } from "@effect-mcp-tasks/core"
import {
  CurrentTask,
  DeclaredCapabilities,
  Embedded,
  TaskLimits,
  TaskOwner,
  TaskStore,
  TaskTool,
  TaskTools
} from "@effect-mcp-tasks/engine"
import { Dispatcher, HttpTransport, RateLimits } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Cause, Context, Effect, Layer, Logger, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import type { RateLimiter } from "effect/persistence"
import { type Agent, createServer, type IncomingHttpHeaders, request, type RequestOptions } from "node:http"

const parameters = Schema.Struct({ text: Schema.String })
const failure = Schema.String
const policy = { ttl: "1 minute", resultTtl: "10 seconds", pollInterval: "1 second" } as const

const Plain = Tool.make("plain", { description: "Answers at once", parameters, success: Schema.Unknown, failure })
const Job = Tool.make("job", { parameters, success: Schema.Unknown, failure }).annotate(TaskTool.Policy, policy)
const Strict = Tool.make("strict", { parameters, success: Schema.Unknown, failure })
  .annotate(TaskTool.Policy, { ...policy, undeclared: "reject" })
const Quick = Tool.make("quick", { parameters, success: Schema.Unknown, failure })
  .annotate(TaskTool.Policy, { ...policy, inlineWithin: "2 seconds" })

const Kit = Toolkit.make(Plain, Job, Strict, Quick)

const form = { message: "Which name?", schema: Schema.Struct({ name: Schema.String }) }

/** What the tools do, whichever is called: the text says it. A test may bring its own words. */
export type Script = (text: string) => Effect.Effect<unknown, string>

const script: Script = Effect.fnUntraced(function*(text) {
  const task = yield* CurrentTask.CurrentTask
  switch (text) {
    case "wait":
      return yield* Effect.never
    case "ask":
      return yield* Effect.orDie(task.elicit("name", form))
    case "sleep":
      return yield* Effect.delay(Effect.succeed("slept"), "3 seconds")
    case "fail":
      return yield* Effect.fail("It did not work")
    case "break":
      return yield* Effect.die(new TaskTool.ProtocolError({ code: 4050, message: "Broken", data: { why: "test" } }))
    case "capabilities":
      return JSON.stringify(yield* DeclaredCapabilities.DeclaredCapabilities)
    case "die":
      return yield* Effect.die(new Error("secret of the handler"))
    default:
      return text
  }
})

/** How the server of a test differs from the usual one. */
export interface Options {
  readonly script?: Script
  readonly store?: Layer.Layer<TaskStore.TaskStore>
  readonly limits?: Partial<TaskLimits.Limits>
  /** The engine, for tests in which several share a signal. */
  readonly engine?: typeof Embedded.layer
  readonly rates?: RateLimits.Rates
  /** Where rates are counted; nowhere in particular unless given. */
  readonly rateStore?: Layer.Layer<RateLimiter.RateLimiterStore>
  /** Where log messages go; nowhere unless given. */
  readonly logs?: Array<string>
}

/** The dispatcher over real layers: only the words of the tools, and the store if need be, are the test's. */
export const dispatcher = (options: Options = {}) => {
  const run = options.script ?? script
  const handler = ({ text }: typeof parameters.Type) =>
    text.startsWith("usual:") ? script(text.slice("usual:".length)) : run(text)
  const log = Logger.make(({ cause, message }) => {
    options.logs?.push(`${String(message)} ${Cause.pretty(cause)}`)
  })
  return Dispatcher.layer({ name: "test", version: "0", title: "Test", instructions: "Call plain" }).pipe(
    Layer.provideMerge(options.engine ?? Embedded.layer),
    Layer.provide(TaskTools.layer(Kit)),
    Layer.provide(Kit.toLayer({ plain: handler, job: handler, strict: handler, quick: handler })),
    Layer.provideMerge(options.store ?? TaskStore.layerMemory),
    Layer.provide(TaskLimits.layer(options.limits ?? {})),
    Layer.provide(RateLimits.layer(options.rates ?? {})),
    Layer.provide(options.rateStore ?? Layer.empty),
    Layer.provideMerge(Logger.layer([log]))
  )
}

export const tasks = { extensions: { [McpProtocol.TasksExtension]: {} }, elicitation: {} }

/** What a request says, besides its method and its params. */
export interface Sender {
  readonly capabilities?: Schema.Json
  readonly id?: Schema.Json
}

/** The text of a request. */
export const message = (method: string, params: Schema.JsonObject = {}, sender: Sender = {}): string => {
  const _meta = {
    ...Object(params["_meta"]),
    [McpProtocol.MetaKey.protocolVersion]: McpProtocol.ProtocolVersion,
    [McpProtocol.MetaKey.clientCapabilities]: sender.capabilities ?? tasks
  }
  return JSON.stringify({ jsonrpc: "2.0", id: sender.id ?? 1, method, params: { ...params, _meta } })
}

const Answer = Schema.fromJsonString(Schema.Struct({
  id: Schema.Union([Schema.String, Schema.Int, Schema.Null]),
  result: Schema.optionalKey(Schema.JsonObject),
  error: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    message: Schema.String,
    data: Schema.optionalKey(Schema.Json)
  }))
}))

/** Reads a JSON-RPC response. */
export const read = (text: string | undefined) => Schema.decodeUnknownSync(Answer)(text)

export const ada = TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada" })

/** Starts the dispatcher for as long as the test, with no transport: no headers either, as over stdio. */
export const start = Effect.fnUntraced(function*(options: Options = {}) {
  const context = yield* Layer.build(Layer.fresh(dispatcher(options)))
  const { handle } = Context.get(context, Dispatcher.Dispatcher)
  /** Sends a text as it is. */
  const send = (body: string, owner: TaskOwner.TaskOwner = ada) =>
    handle({ headers: undefined, body }).pipe(
      Effect.flatMap(Dispatcher.finalReply),
      Effect.provideService(TaskOwner.CurrentOwner, owner),
      Effect.provideContext(context)
    )
  /** Sends a request, and gives back the answer as it came. */
  const ask = (method: string, params?: Schema.JsonObject, sender?: Sender & { owner?: TaskOwner.TaskOwner }) =>
    send(message(method, params, sender), sender?.owner)
  /** Calls a tool that becomes a task, and gives back its id. */
  const create = Effect.fnUntraced(function*(tool: string, text: string, owner?: TaskOwner.TaskOwner) {
    const reply = yield* ask("tools/call", { name: tool, arguments: { text } }, owner === undefined ? {} : { owner })
    const { result } = read(reply.body)
    yield* settle
    const { taskId } = yield* Effect.orDie(Schema.decodeUnknownEffect(Created)(result))
    return taskId
  })
  return { send, ask, create, store: Context.get(context, TaskStore.TaskStore) }
})

const Created = Schema.Struct({ resultType: Schema.Literal("task"), taskId: Schema.String })

/** Lets every fiber that can go on do so. */
export const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

type Endpoint = ReturnType<typeof HttpTransport.layer>

/** What a test puts around the endpoint: at the least, whatever says who the owner of a request is. */
type Surroundings = (endpoint: Endpoint) => Layer.Layer<never, never, Dispatcher.Dispatcher | HttpRouter.HttpRouter>

/** Serves the dispatcher on a free port of the loopback interface, and gives back the port. */
export const serve = Effect.fnUntraced(function*(
  http: HttpTransport.HttpOptions = {},
  options: Options = {},
  within: Surroundings = HttpRouter.provideRequest(TaskOwner.layerAnonymous)
) {
  const context = yield* Layer.build(Layer.fresh(
    HttpRouter.serve(within(HttpTransport.layer(http)), { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(dispatcher(options)),
      Layer.provideMerge(NodeHttpServer.layer(createServer, {
        host: "127.0.0.1",
        port: 0,
        disablePreemptiveShutdown: true
      }))
    )
  ))
  const { address } = Context.get(context, HttpServer.HttpServer)
  return Number(new URL(HttpServer.formatAddress(address)).port)
})

/** An HTTP request with nothing added but what node:http cannot leave out. */
export interface RawRequest {
  readonly port: number
  readonly path?: string
  readonly method?: string
  /** A header that is `undefined` is not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** More than one chunk is sent without a content length. */
  readonly chunks?: ReadonlyArray<string | Uint8Array>
  /** Leaves the body open after the last chunk, and is given what sends the rest of it. */
  readonly unfinished?: (finish: (rest: string) => void) => void
  readonly agent?: Agent
}

/** An HTTP response as it came. */
export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The client's port, which tells connections apart. */
  readonly clientPort: number | undefined
}

/** The request did not get a response. */
export class NoResponse extends Schema.TaggedError<NoResponse>()("NoResponse", { cause: Schema.Defect() }) {}

const requestOptions = ({ agent, headers = {}, method = "POST", path = "/mcp", port }: RawRequest): RequestOptions => ({
  host: "127.0.0.1",
  port,
  path,
  method,
  agent: agent ?? false,
  setHost: false,
  headers: Object.fromEntries(
    Object.entries({ host: `127.0.0.1:${port}`, "content-type": "application/json", ...headers })
      .filter((header): header is [string, string] => header[1] !== undefined)
  )
})

/** Sends a request. Whoever interrupts it goes away: the socket is destroyed. */
export const exchange = (raw: RawRequest): Effect.Effect<RawResponse, NoResponse> =>
  Effect.callback<RawResponse, NoResponse>((resume) => {
    const lost = (cause: unknown) => resume(Effect.fail(new NoResponse({ cause })))
    const outgoing = request(requestOptions(raw), (incoming) => {
      const received: Array<Buffer> = []
      const clientPort = incoming.socket.localPort
      incoming.on("error", lost)
      incoming.on("data", (chunk: Buffer) => received.push(chunk))
      incoming.on("end", () =>
        resume(Effect.succeed({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(received).toString("utf8"),
          clientPort
        })))
    })
    outgoing.on("error", lost)
    const [only, ...rest] = raw.chunks ?? []
    if (only !== undefined && rest.length === 0 && raw.unfinished === undefined) outgoing.end(only)
    else {
      for (const chunk of raw.chunks ?? []) outgoing.write(chunk)
      if (raw.unfinished === undefined) outgoing.end()
      else raw.unfinished((rest) => outgoing.end(rest))
    }
    return Effect.sync(() => outgoing.destroy())
  })

/** The headers of the protocol that go with a request. */
export const mcpHeaders = (method: string, name?: string): Record<string, string> => ({
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": McpProtocol.ProtocolVersion,
  "mcp-method": method,
  ...(name === undefined ? {} : { "mcp-name": name })
})

/** A sound request, as `exchange` sends it. */
export const listing = { headers: mcpHeaders("tools/list"), chunks: [message("tools/list")] }

/** A call of a tool, as `exchange` sends it. */
export const calling = (name: string, text: string, id: Schema.Json = 1) => ({
  headers: mcpHeaders("tools/call", name),
  chunks: [message("tools/call", { name, arguments: { text } }, { id })]
})

/** A sound request with other headers. */
export const listingWith = (headers: RawRequest["headers"]) => ({
  ...listing,
  headers: { ...listing.headers, ...headers }
})

/** What every refusal before the message is read looks like. */
export const isRefusal = (response: RawResponse, status: number, code = -32600) => {
  assert.strictEqual(response.status, status, response.text)
  assert.strictEqual(response.headers["content-type"], "application/json")
  const { error, id } = read(response.text)
  assert.deepStrictEqual([error?.code, id], [code, null])
  assert.notInclude(response.text, "\n")
}

/** The answer to a sound request. */
export const isListing = (response: RawResponse) => {
  assert.strictEqual(response.status, 200, response.text)
  assert.include(response.text, `"tools":[`)
}
