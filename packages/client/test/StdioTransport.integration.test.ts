/** The stdio transport with a real process, on real time. */
import { TaskClient, TaskClientError } from "@effect-mcp-tasks/client"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Layer, Option, Path, Schedule, Schema } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("stdioChild.ts", import.meta.url))

interface Line {
  readonly id?: number
  readonly method: string
  readonly params: Schema.JsonObject
}

/** The file that a child writes to. */
const logFile = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const log = path.join(yield* fs.makeTempDirectoryScoped(), "log")
  yield* fs.writeFileString(log, "")
  return log
})

const read = Effect.fnUntraced(function*(log: string) {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readFileString(log)).split("\n").filter((line) => line !== "")
})

/** A client of the child, for as long as the scope. */
const startOn = Effect.fnUntraced(function*(log: string, manner = "") {
  const command = ChildProcess.make(process.execPath, [program, log, manner])
  const context = yield* Layer.build(Layer.fresh(TaskClient.layerStdio({ name: "test", version: "0", command })))
  return yield* Effect.provideContext(TaskClient.TaskClient, context)
})

/** A client of the child, and what the child has been sent so far. */
const start = Effect.fnUntraced(function*() {
  const log = yield* logFile
  const lines = read(log)
  const messages = Effect.map(lines, (all): ReadonlyArray<Line> =>
    all.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line)))
  /** Waits for a line that the child writes down. */
  const noted = (wanted: string) =>
    lines.pipe(
      Effect.filterOrFail((all) => all.some((line) => line.includes(wanted))),
      Effect.retry(Schedule.spaced("20 millis")),
      Effect.timeout("60 seconds"),
      Effect.orDie
    )
  return { client: yield* startOn(log), lines, messages, noted }
})

type Needs = Effect.Services<ReturnType<typeof start>>

const test = (name: string, effect: Effect.Effect<void, unknown, Needs>) =>
  it.live(name, () => Effect.provide(effect, NodeServices.layer))

const text = { success: Schema.String }

describe("a server on its standard streams", () => {
  test("is asked what it is before it is called, and its noise is no message [B8, B9]", Effect.gen(function*() {
    const { client, messages } = yield* start()
    assert.match(yield* client.call("plain", {}, text), /^plain by \d+$/)
    const methods = (yield* messages).map(({ method }) => method)
    assert.deepStrictEqual(methods, ["server/discover", "tools/list", "tools/call"])
  }))

  test("is sent one message a line, with all that it must know in the message [B1]", Effect.gen(function*() {
    const { client, messages } = yield* start()
    yield* client.call("plain", { text: "line\nbreak\r\u2028" })
    const call = (yield* messages).find(({ method }) => method === "tools/call")
    assert.deepStrictEqual(call?.params["arguments"], { text: "line\nbreak\r\u2028" })
    assert.property(call?.params["_meta"], "io.modelcontextprotocol/clientCapabilities")
  }))

  test("answers many requests at once, each under its id [C2]", Effect.gen(function*() {
    const { client } = yield* start()
    const names = Array.from({ length: 50 }, (_, n) => `tool${n}`)
    const values = yield* Effect.forEach(names, (name) => client.call(name, {}, text), { concurrency: "unbounded" })
    assert.deepStrictEqual(values.map((value) => value.split(" ")[0]), names)
  }))

  test("is heard by subscription, and the stream withdrawn by name at the end [B4, B5]", Effect.gen(function*() {
    const { client, messages, noted } = yield* start()
    const fiber = yield* Effect.forkChild(client.call("job", {}, text))
    yield* noted("subscriptions/listen")
    yield* client.call("finish")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
    const listen = (yield* messages).find(({ method }) => method === "subscriptions/listen")
    yield* noted("notifications/cancelled")
    const cancelled = (yield* messages).filter(({ method }) => method === "notifications/cancelled")
    assert.deepStrictEqual(cancelled.map(({ id }) => id), [undefined])
    assert.deepStrictEqual(cancelled[0]?.params, { requestId: listen?.id ?? 0 })
  }))

  test("is told which request is given up, and is never sent a response [B3, B5]", Effect.gen(function*() {
    const { client, messages, noted } = yield* start()
    const fiber = yield* Effect.forkChild(client.call("silent"))
    yield* noted("silent")
    yield* Fiber.interrupt(fiber)
    yield* noted("notifications/cancelled")
    const call = (yield* messages).find(({ method }) => method === "tools/call")
    const cancelled = (yield* messages).find(({ method }) => method === "notifications/cancelled")
    assert.strictEqual(cancelled?.params["requestId"], call?.id)
    assert.isTrue((yield* messages).every(({ method }) => typeof method === "string"))
  }))

  test("is started again when it has died: what was on its way is lost, and said to be [B7]", Effect.gen(function*() {
    const { client, lines } = yield* start()
    const died = yield* Effect.flip(client.call("die"))
    assert.instanceOf(died, TaskClientError.TransportError)
    assert.strictEqual(died.reason, "Lost")
    assert.match(yield* client.call("plain", {}, text), /^plain/)
    assert.strictEqual((yield* lines).filter((line) => line.startsWith("start")).length, 2)
  }))

  test("that dies under a subscription is listened to again after its restart [B7]", Effect.gen(function*() {
    const { client, messages, noted } = yield* start()
    const fiber = yield* Effect.forkChild(client.call("job", {}, text))
    yield* noted("subscriptions/listen")
    yield* Effect.flip(client.call("die"))
    yield* messages.pipe(
      Effect.filterOrFail((all) => all.filter(({ method }) => method === "subscriptions/listen").length === 2),
      Effect.retry(Schedule.spaced("20 millis")),
      Effect.timeout("60 seconds")
    )
    yield* client.call("finish")
    assert.strictEqual(yield* Fiber.join(fiber), "done")
  }))

  test("that cannot be started is an error that says so", Effect.gen(function*() {
    const command = ChildProcess.make("there-is-no-such-program", [])
    const options = { name: "test", version: "0", command, retryFor: 0 }
    const context = yield* Layer.build(Layer.fresh(TaskClient.layerStdio(options)))
    const { call } = yield* Effect.provideContext(TaskClient.TaskClient, context)
    const failed = yield* Effect.flip(call("plain"))
    assert.instanceOf(failed, TaskClientError.TransportError)
    assert.strictEqual(failed.reason, "Unreachable")
  }))
})

describe("a server whose client has ended", () => {
  const life = Effect.fnUntraced(function*(manner: string) {
    const log = yield* logFile
    yield* Effect.scoped(Effect.flatMap(startOn(log, manner), ({ call }) => call("plain")))
    const lines = yield* read(log)
    const pid = Number(/^start (\d+)/.exec(lines[0] ?? "")?.[1])
    const found = yield* Effect.option(Effect.try(() => process.kill(pid, 0)))
    return { lines, isAlive: Option.isSome(found) }
  })

  test("has its input closed, and goes by itself [B6]", Effect.gen(function*() {
    const { isAlive, lines } = yield* life("")
    assert.strictEqual(lines.at(-1), "end of input")
    assert.isFalse(isAlive)
  }))

  test("is asked to go if it stays, and then killed [B6]", Effect.gen(function*() {
    const { isAlive, lines } = yield* life("stubborn")
    assert.deepStrictEqual(lines.slice(-2), ["end of input", "SIGTERM"])
    assert.isFalse(isAlive)
  }))
})
