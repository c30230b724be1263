/** The client of promises, on a server of promises. */
import {
  ConnectionError,
  createTaskClient,
  TaskCancelledError,
  TaskError,
  TaskExpiredError,
  TaskFailedError,
  type TaskHandle,
  ToolFailedError
} from "@effect-mcp-tasks/client/promise"
import { assert, describe, it } from "@effect/vitest"
import * as HostileServer from "./HostileServer.ts"

const { asking, complete, created, done, error, got } = HostileServer

interface Sent {
  readonly id: number
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

type Replies = Readonly<Record<string, ReadonlyArray<HostileServer.Reply>>>

const fast = { pollIntervalMs: 1 }

/** A `fetch` that answers as it is scripted, at once. */
const server = (script: Replies) => {
  const sent: Array<Sent> = []
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const request: Sent = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array))
    sent.push(request)
    const count = sent.filter(({ method }) => method === request.method).length
    const usual: Replies = {
      "tools/list": [complete({ tools: [] })],
      "server/discover": [complete({ capabilities: {} })],
      "tasks/update": [complete()],
      "tasks/cancel": [complete()]
    }
    const replies = script[request.method] ?? usual[request.method] ?? [error(-32601, "No")]
    const reply = replies[Math.min(count, replies.length) - 1]
    if (reply?._tag === "Reset") throw new TypeError("fetch failed")
    if (reply?._tag !== "Message") {
      return new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("aborted"))))
    }
    return Response.json({ jsonrpc: "2.0", id: request.id, ...reply.message }, { status: reply.status })
  }
  const of = (method: string) => sent.filter((request) => request.method === method)
  const client = createTaskClient({ url: "http://server.test/mcp", fetch, retryFor: 0 })
  return { client, fetch, of, sent }
}

const rejection = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("it must reject"), (reason) => reason)

const aborted = async (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }))

const accepting = () => ({ action: "accept", content: { ok: true } })

describe("a call", () => {
  it("resolves to the result, of a task or not, with its questions answered", async () => {
    const { client, of } = server({
      "tools/call": [created(fast), complete({ content: [{ type: "text", text: "plain" }] })],
      "tasks/get": [asking(["a"], fast), done("x", fast)]
    })
    await using _ = client
    const questions: Array<string> = []
    const result = await client.call("work", { rows: 1 }, {
      onInput: async (question) => {
        questions.push(`${question.key} ${question.tool} ${question.taskId} ${question.signal.aborted}`)
        return accepting()
      }
    })
    assert.deepStrictEqual(result.content, [{ type: "text", text: "x" }])
    assert.deepStrictEqual(questions, ["a work t1 false"])
    assert.deepStrictEqual(of("tasks/update")[0]?.params["inputResponses"], { a: accepting() })
    assert.deepStrictEqual((await client.call("work")).content, [{ type: "text", text: "plain" }])
  })

  it("rejects with a plain error of its kind, with the JSON-RPC error and the id", async () => {
    const ends = [
      [got({ status: "failed", error: { code: -32050, message: "No rows", data: { a: 1 } } }), TaskFailedError, -32050],
      [got({ status: "cancelled" }), TaskCancelledError, undefined],
      [error(-32602, "Task not found"), TaskExpiredError, -32602],
      [done("", { result: { isError: true, content: [{ type: "text", text: "no" }] } }), ToolFailedError, undefined],
      [HostileServer.reset, ConnectionError, undefined],
      [error(-32021, "Missing"), TaskError, -32021]
    ] as const
    for (const [end, kind, code] of ends) {
      const { client } = server({ "tools/call": [created(fast)], "tasks/get": [end] })
      const reason = await rejection(client.call("work"))
      assert.instanceOf(reason, kind)
      assert.instanceOf(reason, Error)
      assert(reason instanceof TaskError)
      assert.strictEqual(reason.name, kind.name)
      assert.strictEqual(reason.taskId, "t1")
      assert.strictEqual(reason.code, code)
      if (reason instanceof ToolFailedError) assert.isTrue(reason.result.isError)
      if (reason instanceof TaskFailedError) assert.deepStrictEqual(reason.data, { a: 1 })
      await client.close()
    }
  })

  it("rejects with the reason of its signal, and cancels its task", async () => {
    const { client, of } = server({ "tools/call": [created(fast)], "tasks/get": [got(fast)] })
    await using _ = client
    const reason = new Error("changed my mind")
    const abort = new AbortController()
    const call = rejection(client.call("work", {}, { signal: abort.signal }))
    while (of("tasks/get").length < 3) await new Promise(setImmediate)
    abort.abort(reason)
    assert.strictEqual(await call, reason)
    assert.strictEqual(of("tasks/cancel").length, 1)
  })

  it("leaves its task when that is wanted, and does nothing when it is aborted already", async () => {
    const { client, of, sent } = server({ "tools/call": [created(fast)], "tasks/get": [got(fast)] })
    await using _ = client
    const gone = await rejection(client.call("work", {}, { signal: AbortSignal.abort() }))
    assert.strictEqual((gone as Error).name, "AbortError")
    assert.isEmpty(sent)
    const abort = new AbortController()
    const call = rejection(client.call("work", {}, { signal: abort.signal, onAbort: "leave" }))
    while (of("tasks/get").length < 3) await new Promise(setImmediate)
    abort.abort()
    await call
    assert.isEmpty(of("tasks/cancel"))
  })

  it("rejects with what its input handler throws, and cancels its task", async () => {
    const { client, of } = server({ "tools/call": [created(fast)], "tasks/get": [asking(["a"], fast)] })
    await using _ = client
    const mine = new RangeError("my own")
    const onInput = () => {
      throw mine
    }
    assert.strictEqual(await rejection(client.call("work", {}, { onInput })), mine)
    assert.strictEqual(of("tasks/cancel").length, 1)
  })
})

describe("a handle", () => {
  it("gives the task as it changes, and then the result", async () => {
    const { client } = server({
      "tools/call": [created(fast)],
      "tasks/get": [got({ ...fast, statusMessage: "half" }), done("x", fast)]
    })
    await using _ = client
    const handle = await client.start("work")
    assert.strictEqual(handle.id, "t1")
    const states: Array<string> = []
    for await (const { status, statusMessage } of handle) states.push(`${status} ${statusMessage}`)
    assert.deepStrictEqual(states, ["working undefined", "working half", "completed undefined"])
    assert.deepStrictEqual((await handle.result()).content, [{ type: "text", text: "x" }])
  })

  it("can be left in the middle, answered by hand, and cancelled", async () => {
    const { client, of } = server({
      "tools/call": [created(fast)],
      "tasks/get": [asking(["a"], fast)]
    })
    await using _ = client
    const handle = await client.start("work", {}, { onInput: () => new Promise(() => undefined) })
    for await (const state of handle) {
      if (state.status === "input_required") break
    }
    await handle.answer("a", { action: "decline" })
    assert.deepStrictEqual(of("tasks/update")[0]?.params["inputResponses"], { a: { action: "decline" } })
    assert.match((await rejection(handle.answer("b", {})) as Error).message, /no outstanding question b/)
    await handle.cancel()
    assert.strictEqual(of("tasks/cancel").length, 1)
    await handle.leave()
    await rejection(handle.result())
  })

  it("stops its iteration with the reason of a signal, or of what went wrong", async () => {
    const { client } = server({ "tools/call": [created(fast)], "tasks/get": [got(fast), HostileServer.reset] })
    await using _ = client
    const iterate = async (handle: AsyncIterable<unknown>) => {
      for await (const state of handle) assert.isDefined(state)
    }
    const failing = await client.start("work")
    assert.instanceOf(await rejection(iterate(failing)), ConnectionError)
    const abort = new AbortController()
    const aborted = await client.start("work", {}, { signal: abort.signal })
    const reason = new Error("enough")
    abort.abort(reason)
    assert.strictEqual(await rejection(iterate(aborted)), reason)
  })

  it("is given up by its signal, whatever is waited for then, and its task is cancelled", async () => {
    const forever = async () => new Promise<never>(() => undefined)
    const waits = [
      async (handle: TaskHandle) => handle.result(),
      async (handle: TaskHandle) => {
        for await (const state of handle) assert.strictEqual(state.status, "working")
      },
      async () => forever()
    ]
    for (const wait of waits) {
      for (const onAbort of ["cancel", "leave"] as const) {
        const { client, of, sent } = server({ "tools/call": [created(fast)], "tasks/get": [got(fast)] })
        const abort = new AbortController()
        const handle = await client.start("work", {}, { signal: abort.signal, onAbort })
        const waiting = rejection(Promise.race([wait(handle), aborted(abort.signal)]))
        while (of("tasks/get").length < 3) await new Promise(setImmediate)
        const reason = new Error("enough")
        abort.abort(reason)
        assert.strictEqual(await waiting, reason)
        await client.close()
        assert.strictEqual(of("tasks/cancel").length, onAbort === "cancel" ? 1 : 0)
        if (onAbort === "cancel") assert.strictEqual(sent.at(-1)?.method, "tasks/cancel", "nothing is polled after it")
      }
    }
  })

  it("is not cancelled by a signal after its end, and stops being observed by one after a resume", async () => {
    const { client, of } = server({ "tools/call": [created(fast)], "tasks/get": [done("x", fast), got(fast)] })
    const abort = new AbortController()
    const { signal } = abort
    const ended = await client.start("work", {}, { signal })
    for await (const state of ended) assert.isDefined(state)
    await client.resume("t1", { signal })
    abort.abort()
    await new Promise(setImmediate)
    const polls = of("tasks/get").length
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    assert.isAtMost(of("tasks/get").length, polls + 1)
    await client.close()
    assert.isEmpty(of("tasks/cancel"))
  })

  it("of a plain result has no id", async () => {
    const { client } = server({ "tools/call": [complete({ content: [] })] })
    await using _ = client
    const handle = await client.start("work")
    assert.isUndefined(handle.id)
    assert.deepStrictEqual((await handle.result()).content, [])
  })
})

describe("a client", () => {
  it("remembers open tasks in a store of promises, and resumes them", async () => {
    const kept = new Map<string, string>()
    const store = {
      get: async (key: string) => kept.get(key),
      set: async (key: string, value: string) => void kept.set(key, value),
      delete: async (key: string) => void kept.delete(key),
      keys: async () => Array.from(kept.keys())
    }
    const { fetch } = server({ "tools/call": [created(fast)], "tasks/get": [got(fast), got(fast), done("x", fast)] })
    const url = "http://server.test/mcp"
    const first = createTaskClient({ url, fetch, store })
    await first.start("work")
    assert.deepStrictEqual(await first.open(), ["t1"])
    await first.close()
    await using second = createTaskClient({ url, fetch, store })
    const [id = ""] = await second.open()
    const handle = await second.resume(id)
    assert.deepStrictEqual((await handle.result()).content, [{ type: "text", text: "x" }])
    assert.deepStrictEqual(await second.open(), [])
  })

  it("looks, lists, discovers and cancels", async () => {
    const { client, of } = server({ "tasks/get": [got()], "tools/list": [complete({ tools: [HostileServer.tool] })] })
    await using _ = client
    assert.strictEqual((await client.get("t1")).status, "working")
    assert.deepStrictEqual((await client.tools()).map(({ name }) => name), ["work"])
    assert.isFalse((await client.discover()).offersTasks)
    await client.cancel("t1")
    assert.strictEqual(of("tasks/cancel").length, 1)
  })

  it("ends its calls when it is closed", async () => {
    const { client, of } = server({ "tools/call": [created(fast)], "tasks/get": [got(fast)] })
    const call = rejection(client.call("work"))
    while (of("tasks/get").length < 3) await new Promise(setImmediate)
    await client.close()
    assert.match((await call as Error).message, /closed/)
    assert.strictEqual(of("tasks/cancel").length, 1)
  })

  it("can be closed twice, and is not made without the address of a server", async () => {
    const { client } = server({})
    await Promise.all([client.close(), client.close()])
    await client.close()
    for (const url of [undefined, "localhost:3334/mcp", "file:///mcp", "nonsense"]) {
      assert.throws(() => createTaskClient({ url: url as string }), TypeError)
    }
  })

  it("sends nothing of what an input handler gives that is no answer", async () => {
    for (const given of [undefined, "yes", {}, { action: "yes" }, null, []]) {
      const { client, of } = server({ "tools/call": [created(fast)], "tasks/get": [asking(["a"], fast)] })
      await using _ = client
      const onInput = () => given as { action: string }
      assert.match(String(await rejection(client.call("work", {}, { onInput }))), /TypeError: onInput has to give/)
      assert.isEmpty(of("tasks/update"))
      assert.strictEqual(of("tasks/cancel").length, 1)
    }
  })

  it("tells what it can be asked by whether there is someone to ask", async () => {
    const { client, of } = server({ "tools/call": [complete({ content: [] })] })
    await using _ = client
    await client.call("work")
    await client.call("work", {}, { onInput: accepting })
    const declared = of("tools/call").map(({ params }) => JSON.stringify(params["_meta"]).includes("elicitation"))
    assert.deepStrictEqual(declared, [false, true])
  })
})
