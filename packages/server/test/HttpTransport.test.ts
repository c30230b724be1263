/** The endpoint over loopback HTTP: what is read and answered, and what becomes of a call whose client leaves. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Agent } from "node:http"
import {
  calling,
  exchange,
  isListing,
  isRefusal,
  listing,
  listingWith,
  mcpHeaders,
  message,
  type RawRequest,
  read,
  type Script,
  serve
} from "./TestServer.ts"

describe("body", () => {
  const body = message("tools/list")

  it.live("may be as large as allowed, and not a byte larger, whether its length is told or not", () =>
    Effect.gen(function*() {
      const exact = yield* serve({ maxBodyBytes: body.length })
      const short = yield* serve({ maxBodyBytes: body.length - 1 })
      const halves = [body.slice(0, 20), body.slice(20)]
      for (const chunks of [[body], halves]) {
        isListing(yield* exchange({ port: exact, ...listing, chunks }))
        isRefusal(yield* exchange({ port: short, ...listing, chunks }), 413)
      }
    }))

  it.live("is refused by its announced length before it is sent", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const headers = { ...listing.headers, "content-length": String(4 * 1024 * 1024 + 1) }
      isRefusal(yield* exchange({ port, headers, chunks: ["{"], unfinished: () => undefined }), 413)
    }))

  it.live("that is no JSON text is a parse error [A20, C4]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const invalid = [
        Buffer.from([0x22, 0xc3, 0x28, 0x22]),
        Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
        Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(body)]),
        Buffer.from(body.slice(0, -1)),
        Buffer.alloc(0)
      ]
      for (const chunk of invalid) isRefusal(yield* exchange({ port, ...listing, chunks: [chunk] }), 400, -32700)
      isRefusal(yield* exchange({ port, headers: listing.headers }), 400, -32700)
    }))

  it.live("may be cut within a character on its way [A20]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const { chunks: [text], headers } = calling("plain", "grün 🌳")
      const bytes = Buffer.from(text ?? "")
      const cut = bytes.indexOf(0xf0) + 2
      const response = yield* exchange({ port, headers, chunks: [bytes.subarray(0, cut), bytes.subarray(cut)] })
      assert.include(response.text, "grün 🌳")
    }))
})

describe("answers", () => {
  it.live("a notification is accepted with no content [A5]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const response = yield* exchange({ port, chunks: [`{"jsonrpc":"2.0","method":"notifications/initialized"}`] })
      assert.deepStrictEqual([response.status, response.text], [202, ""])
      assert.isUndefined(response.headers["content-type"])
    }))

  it.live("each rule of admission has its status [C4]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const get = mcpHeaders("tasks/get", "t")
      const old = message("tools/list").replace(`"2026-07-28"`, `"2025-11-25"`)
      const strict = { name: "strict", arguments: { text: "" } }
      type Sample = readonly [headers: Record<string, string>, body: string, status: number, code: number]
      const samples: ReadonlyArray<Sample> = [
        [listing.headers, "{", 400, -32700],
        [listing.headers, "[]", 400, -32600],
        [listing.headers, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 400, -32602],
        [{}, message("tools/list"), 400, -32020],
        [{ ...listing.headers, "mcp-protocol-version": "2025-11-25" }, message("tools/list"), 400, -32020],
        [{ ...listing.headers, "mcp-protocol-version": "2025-11-25" }, old, 400, -32022],
        [mcpHeaders("tools/call"), message("tools/list"), 400, -32020],
        [mcpHeaders("tasks/get"), message("tasks/get", { taskId: "t" }), 400, -32020],
        [mcpHeaders("tasks/get", "other"), message("tasks/get", { taskId: "t" }), 400, -32020],
        [mcpHeaders("tasks/list"), message("tasks/list"), 404, -32601],
        [get, message("tasks/get", { taskId: "t" }, { capabilities: {} }), 400, -32021],
        [mcpHeaders("tools/call", "strict"), message("tools/call", strict, { capabilities: {} }), 400, -32021],
        [get, message("tasks/get", { taskId: "t" }), 200, -32602]
      ]
      for (const [headers, chunk, status, code] of samples) {
        const response = yield* exchange({ port, headers, chunks: [chunk] })
        assert.deepStrictEqual([response.status, read(response.text).error?.code], [status, code], chunk)
        assert.strictEqual(response.headers["content-type"], "application/json")
      }
    }))

  it.live("a connection serves on after every refusal of a request that arrived", () =>
    Effect.gen(function*() {
      const port = yield* serve({ maxBodyBytes: 2_000 })
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
        (agent) => Effect.sync(() => agent.destroy())
      )
      const refused: ReadonlyArray<readonly [status: number, request: Partial<RawRequest>]> = [
        [403, listingWith({ origin: "http://evil.example" })],
        [403, listingWith({ host: "evil.example" })],
        [405, { method: "GET" }],
        [405, { method: "DELETE" }],
        [415, listingWith({ "content-type": "text/plain" })],
        [413, { ...listing, chunks: ["x".repeat(3_000)] }],
        [400, { ...listing, chunks: ["{"] }],
        [400, { ...listing, chunks: [Buffer.from([0xff])] }],
        [404, { ...listing, path: "/other" }],
        [202, { chunks: [`{"jsonrpc":"2.0","method":"notifications/initialized"}`] }]
      ]
      const { clientPort } = yield* exchange({ port, agent, ...listing })
      for (const [status, request] of refused) {
        const response = yield* exchange({ port, agent, ...request })
        assert.strictEqual(response.status, status)
        const next = yield* exchange({ port, agent, ...listing })
        isListing(next)
        assert.strictEqual(next.clientPort, clientPort, `closed after ${status} for ${JSON.stringify(request.headers)}`)
      }
    }))

  it.live("a hundred requests at once are each answered with their own", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      yield* Effect.forEach(Array.from({ length: 100 }, (_, index) => index), (index) =>
        Effect.gen(function*() {
          const response = yield* exchange({ port, ...calling("plain", `text ${index}.`, `id ${index}`) })
          const { id, result } = read(response.text)
          assert.strictEqual(id, `id ${index}`)
          assert.deepStrictEqual(result?.["content"], [{ type: "text", text: `text ${index}.` }])
        }), { concurrency: "unbounded", discard: true })
    }))
})

describe("the owner of a request", () => {
  /** Takes everyone at their word, and provides nobody for who says nothing, whatever its type claims. */
  const authenticated = HttpRouter.middleware<{ provides: TaskOwner.CurrentOwner }>()((endpoint) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const subject = headers["x-subject"]
      return subject === undefined
        ? Effect.provideContext(endpoint, Context.makeUnsafe<TaskOwner.CurrentOwner>(new Map()))
        : Effect.provideService(
          endpoint,
          TaskOwner.CurrentOwner,
          TaskOwner.principal({ issuer: "https://issuer.example", subject })
        )
    })
  )

  it.live("is the one that the router's middleware found for it", () =>
    Effect.gen(function*() {
      const port = yield* serve({}, {}, Layer.provide(authenticated.layer))
      const as = (subject: string, request: typeof listing) =>
        exchange({ port, chunks: request.chunks, headers: { ...request.headers, "x-subject": subject } })
      const created = yield* as("ada", calling("job", "wait"))
      const taskId = String(read(created.text).result?.["taskId"])
      const polling = { headers: mcpHeaders("tasks/get", taskId), chunks: [message("tasks/get", { taskId })] }
      assert.include((yield* as("ada", polling)).text, `"status":"working"`)
      assert.strictEqual(read((yield* as("bob", polling)).text).error?.code, -32602)
    }))

  it.live("must come with it: nobody becomes the owner that the layer was built with", () =>
    Effect.gen(function*() {
      let runs = 0
      const script: Script = () => Effect.sync(() => ++runs)
      const port = yield* serve({}, { script }, (endpoint) =>
        endpoint.pipe(Layer.provide(authenticated.layer), Layer.provide(TaskOwner.layerAnonymous)))
      isRefusal(yield* exchange({ port, ...listing }), 403)
      isRefusal(yield* exchange({ port, ...calling("plain", "text") }), 403)
      isRefusal(yield* exchange({ port, headers: listing.headers, chunks: ["{"] }), 403)
      assert.strictEqual(runs, 0)
      isListing(yield* exchange({ port, ...listingWith({ "x-subject": "ada" }) }))
    }))
})

describe("a client that goes away", () => {
  it.live("interrupts its plain call and leaves its task alone [A10, G2]", () =>
    Effect.gen(function*() {
      const hasStarted = yield* Deferred.make<void>()
      const hasStopped = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const stopped: Array<string> = []
      const script: Script = (text) =>
        Effect.andThen(
          text === "plain" ? Deferred.succeed(hasStarted, undefined) : Effect.void,
          Effect.as(Deferred.await(mayEnd), text)
        ).pipe(
          Effect.onInterrupt(() => {
            stopped.push(text)
            return Deferred.succeed(hasStopped, undefined)
          })
        )
      const port = yield* serve({}, { script })
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
        (agent) => Effect.sync(() => agent.destroy())
      )
      // The task and the plain call come over one connection, which is then destroyed.
      const created = yield* exchange({ port, agent, ...calling("job", "job") })
      const taskId = String(read(created.text).result?.["taskId"])
      const asking = yield* Effect.forkChild(exchange({ port, agent, ...calling("plain", "plain") }))
      yield* Deferred.await(hasStarted)
      yield* Fiber.interrupt(asking)
      yield* Deferred.await(hasStopped)
      const polling = { headers: mcpHeaders("tasks/get", taskId), chunks: [message("tasks/get", { taskId })] }
      assert.include((yield* exchange({ port, ...polling })).text, `"status":"working"`)
      assert.deepStrictEqual(stopped, ["plain"])
      yield* Deferred.succeed(mayEnd, undefined)
      const ended = yield* exchange({ port, ...polling }).pipe(
        Effect.repeat({ until: ({ text }) => !text.includes(`"status":"working"`) }),
        Effect.timeout("1 minute")
      )
      assert.include(ended.text, `"status":"completed"`)
    }))

  it.live("in the middle of its body leaves the server as it was", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      for (let sent = 0; sent < 20; sent++) {
        const body = { chunks: ["{", `"`], unfinished: () => undefined }
        const asking = yield* Effect.forkChild(exchange({ port, ...listing, ...body }))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(asking)
      }
      isListing(yield* exchange({ port, ...listing }))
    }))
})
