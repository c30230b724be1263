/** The example over the standard streams, as a desktop host runs it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import * as Program from "./Program.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: {},
    extensions: { "io.modelcontextprotocol/tasks": {} }
  }
}

/** A message, as far as this test looks at it. */
const Message = Schema.fromJsonString(Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Schema.Json),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int }))
}))

/** Starts the program on a file, with its streams in hand. */
const start = Effect.fnUntraced(function*(file: string) {
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [...Program.fromSource("stdio.ts"), file], { stdio: "pipe" })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const messages: Array<typeof Message.Type> = []
  let rest = ""
  let stderr = ""
  child.stderr?.on("data", (chunk: unknown) => stderr += String(chunk))
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n")
    rest = lines.pop() ?? ""
    // A line that is no message throws, and fails the test.
    for (const line of lines) messages.push(Schema.decodeUnknownSync(Message)(line))
  })
  const send = (line: string) => Effect.sync(() => child.stdin?.write(`${line}\n`))
  const find = (is: (message: typeof Message.Type) => boolean) =>
    Effect.sync(() => messages.find(is)).pipe(
      Effect.tap(Effect.sleep("10 millis")),
      Effect.repeat({ until: (message) => message !== undefined }),
      Effect.timeout("2 minutes"),
      Effect.map((message) => Object(message) as typeof Message.Type)
    )
  return {
    send,
    find,
    request: (id: number, method: string, params = {}) =>
      Effect.andThen(
        send(JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })),
        find((message) => message.id === id)
      ),
    messages,
    stderr: () => stderr,
    kill: Effect.sync(() => child.kill("SIGKILL")),
    /** Reads no more. */
    deafen: Effect.sync(() => child.stdout?.destroy()),
    /** Waits for the program to end: gives back its exit code. */
    exited: Effect.callback<number | null>((resume) => {
      child.once("exit", (code) => resume(Effect.succeed(code)))
    }).pipe(Effect.timeout("2 minutes")),
    /** Ends the input, and waits for the program to end: gives back its exit code. */
    close: Effect.callback<number | null>((resume) => {
      child.once("exit", (code) => resume(Effect.succeed(code)))
      child.stdin?.end()
    })
  }
})

const isTask = (status: string) => ({ method, params }: typeof Message.Type) =>
  method === "notifications/tasks" && params?.["status"] === status

describe("npm run start:stdio", () => {
  it.live("serves a task by notifications, logs elsewhere, and ends well with its input", () =>
    Effect.gen(function*() {
      const server = yield* start(join(yield* temporaryDirectory, "new", "tasks.sqlite"))
      yield* server.send("not a message")
      assert.strictEqual((yield* server.find(({ error }) => error !== undefined)).error?.code, -32700)
      const created = yield* server.request(1, "tools/call", { name: "export_report", arguments: { rows: 3 } })
      const taskId = created.result?.["taskId"]
      yield* server.send(JSON.stringify({
        jsonrpc: "2.0",
        id: "listen",
        method: "subscriptions/listen",
        params: { notifications: { taskIds: [taskId] }, _meta }
      }))
      yield* server.find(isTask("input_required"))
      const accept = { action: "accept", content: { overwrite: true } }
      yield* server.request(2, "tasks/update", { taskId, inputResponses: { "confirm-overwrite": accept } })
      const done = yield* server.find(isTask("completed"))
      assert.match(JSON.stringify(done.params?.["result"]), /Wrote 3 rows/)
      const ended = yield* server.find(({ id }) => id === "listen")
      assert.strictEqual(ended.result?.["resultType"], "complete")
      assert.strictEqual(yield* server.close, 0)
      assert.match(server.stderr(), /level=INFO/)
    }))

  it.live("goes on after it was killed, for the client that starts it again", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "tasks.sqlite")
      const first = yield* start(file)
      const created = yield* first.request(1, "tools/call", { name: "export_report", arguments: { rows: 3 } })
      const taskId = created.result?.["taskId"]
      yield* first.kill
      const second = yield* start(file)
      const polled = yield* second.request(2, "tasks/get", { taskId })
      assert.include(["working", "input_required"], polled.result?.["status"])
      yield* second.request(3, "tasks/cancel", { taskId })
      assert.strictEqual(yield* second.close, 0)
    }))

  it.live("ends at once when nobody reads its output any more, though its input is open", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "tasks.sqlite")
      const server = yield* start(file)
      yield* server.request(1, "server/discover")
      yield* server.deafen
      const exited = yield* Effect.forkChild(server.exited, { startImmediately: true })
      yield* server.send(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "server/discover", params: { _meta } }))
      assert.strictEqual(yield* Fiber.join(exited), 1)
      assert.match(server.stderr(), /The standard output is gone/)
      // Its file is free again.
      const second = yield* start(file)
      yield* second.request(3, "server/discover")
      assert.strictEqual(yield* second.close, 0)
    }))

  it.live("answers what is in flight when its input ends at once", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "tasks.sqlite")
      const discover = JSON.stringify({ jsonrpc: "2.0", id: "only", method: "server/discover", params: { _meta } })
      const ended = yield* Program.run(process.execPath, [...Program.fromSource("stdio.ts"), file], { input: discover })
      assert.strictEqual(ended.code, 0)
      assert.strictEqual((yield* Schema.decodeEffect(Message)(ended.stdout)).id, "only")
    }))
})
