/** What is refused, in which words, and what it leaves behind. */
import { WireError } from "@effect-mcp-tasks/core"
import { TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Layer, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { ada, message, read, type Script, settle, start, tasks } from "./TestServer.ts"

type Server = Effect.Success<ReturnType<typeof start>>

const refused = (code: number, text: string, data?: Schema.Json) => ({
  jsonrpc: "2.0",
  id: 1,
  error: { code, message: text, ...(data === undefined ? {} : { data }) }
})

/** Expects one refusal: status, code and words. */
const expect = Effect.fnUntraced(function*(
  reply: ReturnType<Server["ask"]>,
  httpStatus: number,
  error: ReturnType<typeof refused>
) {
  const { body, httpStatus: status } = yield* reply
  assert.deepStrictEqual({ status, body: JSON.parse(body ?? "") }, { status: httpStatus, body: error })
})

const taskCount = (server: Server) => Effect.map(server.store.list({ limit: 100 }), (tasks) => tasks.length)

const notFound = (method: string) =>
  refused(-32602, `Failed to ${method.slice("tasks/".length).replace("get", "retrieve")} task: Task not found`)
const internal = refused(-32603, "Internal error")
const unreachable = refused(-32603, "The server cannot reach its tasks at the moment")
const requiredCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } }
const undeclared = refused(WireError.tasksRequired.code, WireError.tasksRequired.message, { requiredCapabilities })

describe("tools/call", () => {
  it.effect("has a final reply for those who can be told nothing before it", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const params = { name: "plain", arguments: { text: "hello" }, _meta: { progressToken: "t" } }
      const { body, httpStatus } = yield* server.ask("tools/call", params)
      assert.deepStrictEqual([httpStatus, read(body).result?.["content"]], [200, [{ type: "text", text: "hello" }]])
    }))

  it.effect("refuses what names no tool [D4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const noTool = refused(-32602, "params.name is not the name of a tool")
      for (const name of ["", 7, null, ["plain"]]) {
        yield* expect(server.ask("tools/call", { name, arguments: { text: "" } }), 200, noTool)
      }
      const names = [
        ...["absent", "__proto__", "constructor", "PLAIN", "é世\u{1f600} x"].map((name) => [name, name]),
        ["a\u0000\u001b[1m\n\u202e\ud800", "a\ufffd\ufffd[1m\ufffd\ufffd\ufffd"],
        ["x".repeat(10_000), `${"x".repeat(128)}...`]
      ]
      for (const [name = "", shown] of names) {
        const unknown = refused(-32602, `Unknown tool: ${shown}`)
        yield* expect(server.ask("tools/call", { name, arguments: { text: "" } }), 200, unknown)
      }
      yield* expect(server.ask("tools/call", {}), 200, noTool)
    }))

  it.effect("refuses arguments that are no object", () =>
    Effect.gen(function*() {
      const server = yield* start()
      for (const given of [[], "text", 1, true, null]) {
        for (const name of ["plain", "job"]) {
          const error = refused(-32602, "params.arguments must be an object")
          yield* expect(server.ask("tools/call", { name, arguments: given }), 200, error)
        }
      }
      assert.strictEqual(yield* taskCount(server), 0)
    }))

  it.effect("answers arguments that do not fit with a result for the model, and creates no task [D4]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      for (const name of ["plain", "job", "strict", "quick"]) {
        for (const params of [{ name }, { name, arguments: {} }, { name, arguments: { text: 1 } }]) {
          const reply = yield* server.ask("tools/call", params)
          const { result } = read(reply.body)
          assert.strictEqual(reply.httpStatus, 200)
          assert.strictEqual(result?.["isError"], true)
          assert.strictEqual(result?.["resultType"], "complete")
          assert.match(JSON.stringify(result?.["content"]), new RegExp(`Invalid arguments for tool ${name}: .*text`))
        }
      }
      assert.strictEqual(yield* taskCount(server), 0)
    }))

  it.effect("ignores the task parameter of earlier revisions", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const call = { arguments: { text: "hello" }, task: { ttl: 1 } }
      const plain = yield* server.ask("tools/call", { ...call, name: "plain" })
      assert.include(plain.body, `"resultType":"complete"`)
      const inline = yield* server.ask("tools/call", { ...call, name: "job" }, { capabilities: { tasks: {} } })
      assert.include(inline.body, `"resultType":"complete"`)
      assert.strictEqual(yield* taskCount(server), 0)
      assert.include((yield* server.ask("tools/call", { ...call, name: "job" })).body, `"ttlMs":60000`)
    }))

  it.effect("a tool that must be a task is refused to who did not declare tasks, and does not run", () =>
    Effect.gen(function*() {
      let runs = 0
      const server = yield* start({ script: () => Effect.sync(() => ++runs) })
      const call = { name: "strict", arguments: { text: "hello" } }
      yield* expect(server.ask("tools/call", call, { capabilities: {} }), 400, undeclared)
      assert.deepStrictEqual([runs, yield* taskCount(server)], [0, 0])
      assert.include((yield* server.ask("tools/call", call)).body, `"resultType":"task"`)
    }))

  it.effect("a handler that dies is an internal error whose cause is only logged", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const server = yield* start({ logs })
      const broken = refused(-32603, "The tool failed unexpectedly")
      yield* expect(server.ask("tools/call", { name: "plain", arguments: { text: "die" } }), 200, broken)
      assert.strictEqual(logs.filter((line) => line.includes("secret of the handler")).length, 1)
      const taskId = yield* server.create("job", "die")
      const { body } = yield* server.ask("tasks/get", { taskId })
      assert.include(body, `"status":"failed"`)
      assert.include(body, `"error":{"code":-32603,"message":"The tool failed unexpectedly"}`)
      assert.notInclude(body, "secret")
    }))

  it.effect("a handler that interrupts itself is an error, not a client that went away", () =>
    Effect.gen(function*() {
      const server = yield* start({ script: () => Effect.interrupt })
      const expected = refused(-32603, "The tool was interrupted before it ended")
      yield* expect(server.ask("tools/call", { name: "plain", arguments: { text: "" } }), 200, expected)
    }))

  it.effect("a plain call that is interrupted stays interrupted", () =>
    Effect.gen(function*() {
      const hasStopped = yield* Deferred.make<void>()
      const script: Script = () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(hasStopped, undefined))
      const server = yield* start({ script })
      const asking = yield* Effect.forkChild(server.ask("tools/call", { name: "plain", arguments: { text: "" } }))
      yield* settle
      yield* Fiber.interrupt(asking)
      yield* Deferred.await(hasStopped)
      const exit = yield* Fiber.await(asking)
      assert.isTrue(exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause))
    }))

  it.effect("an owner with too many live tasks is refused before one exists [D6, I2]", () =>
    Effect.gen(function*() {
      const server = yield* start({ limits: { maxLiveTasks: 2 } })
      const first = yield* server.create("job", "wait")
      yield* server.create("job", "wait")
      const text = "Too many unfinished tasks: 2 are allowed. Finish or cancel some first"
      const call = { name: "job", arguments: { text: "wait" } }
      yield* expect(server.ask("tools/call", call), 200, refused(-32603, text))
      assert.strictEqual(yield* taskCount(server), 2)
      assert.include((yield* server.ask("tools/call", call, { owner: bob })).body, `"resultType":"task"`)
      yield* server.ask("tasks/cancel", { taskId: first })
      yield* settle
      assert.include((yield* server.ask("tools/call", call)).body, `"resultType":"task"`)
    }))
})

describe("the capabilities that a call declares", () => {
  it.effect("are seen by the handler of a plain call and of a task alike", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const { extensions } = tasks
      const declared = [{ extensions, sampling: {} }, { extensions, elicitation: { url: {} } }, { extensions }]
      for (const capabilities of declared) {
        const call = (name: string) =>
          server.ask("tools/call", { name, arguments: { text: "capabilities" } }, { capabilities })
        const { body } = yield* call("plain")
        const expected = [{ type: "text", text: JSON.stringify(capabilities) }]
        assert.deepStrictEqual(read(body).result?.["content"], expected)
        const taskId = String(read((yield* call("job")).body).result?.["taskId"])
        yield* settle
        const polled = yield* server.ask("tasks/get", { taskId })
        assert.deepInclude(read(polled.body).result?.["result"], { content: expected })
      }
    }))
})

describe("tasks/*", () => {
  const methods = ["tasks/get", "tasks/update", "tasks/cancel"]

  it.effect("is refused to who did not declare tasks, whatever the id is", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const own = yield* server.create("job", "wait")
      const foreign = yield* server.create("job", "wait", bob)
      for (const method of methods) {
        for (const taskId of [own, foreign, "unknown", "", 7]) {
          const reply = server.ask(method, { taskId, inputResponses: {} }, { capabilities: { elicitation: {} } })
          yield* expect(reply, 400, undeclared)
        }
      }
      assert.include((yield* server.ask("tasks/get", { taskId: own })).body, `"status":"working"`)
    }))

  it.effect("what earlier revisions had does not exist", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "hello")
      for (const method of ["tasks/list", "tasks/result", "tasks/delete", "__proto__", "constructor"]) {
        yield* expect(server.ask(method, { taskId }), 404, refused(-32601, `Method not found: ${method}`))
      }
    }))

  it.effect("answers every id that is none of the caller's in the same words", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const foreign = yield* server.create("job", "ask", bob)
      const ids = [foreign, foreign.toUpperCase(), "unknown", "", "x".repeat(10_000), "\u0000", "../1", "__proto__"]
      for (const method of methods) {
        for (const taskId of [...ids, 7, null, true, [foreign], { taskId: foreign }]) {
          yield* expect(server.ask(method, { taskId, inputResponses: {} }), 200, notFound(method))
        }
        yield* expect(server.ask(method, { inputResponses: {} }), 200, notFound(method))
      }
    }))

  it.effect("a task is forgotten in the words for one that never was", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "hello")
      yield* TestClock.adjust("9 seconds")
      assert.include((yield* server.ask("tasks/get", { taskId })).body, `"status":"completed"`)
      yield* TestClock.adjust("2 minutes")
      yield* expect(server.ask("tasks/get", { taskId }), 200, notFound("tasks/get"))
    }))
})

describe("tasks/update", () => {
  it.effect("refuses responses that are no object", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "ask")
      const error = refused(-32602, "params.inputResponses must be an object")
      yield* expect(server.ask("tasks/update", { taskId }), 200, error)
      for (const inputResponses of [null, [], "accept", 1]) {
        yield* expect(server.ask("tasks/update", { taskId, inputResponses }), 200, error)
      }
    }))

  it.effect("refuses an answer that does not fit, names its key, and keeps the question", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "ask")
      const before = yield* server.ask("tasks/get", { taskId })
      const answers: ReadonlyArray<Schema.Json> = [
        { action: "accept", content: { name: 1 } },
        { action: "accept", content: {} },
        { action: "accept" },
        { action: "maybe" },
        "accept",
        null
      ]
      for (const name of answers) {
        const reply = yield* server.ask("tasks/update", { taskId, inputResponses: { name } })
        const { error } = read(reply.body)
        assert.strictEqual(error?.code, -32602, JSON.stringify(name))
        assert.match(String(error?.message), /^The answer to name does not fit: /)
        assert.deepStrictEqual(yield* server.ask("tasks/get", { taskId }), before)
      }
    }))
})

describe("a store that fails", () => {
  const faulty = (isDown: () => boolean) =>
    Layer.effect(
      TaskStore.TaskStore,
      Effect.map(TaskStore.TaskStore, (store) => {
        const gate = <A, E>(operation: "create" | "read" | "view" | "replace", effect: Effect.Effect<A, E>) =>
          Effect.suspend((): Effect.Effect<A, E | TaskStore.TaskStoreError> =>
            isDown()
              ? Effect.fail(
                new TaskStore.TaskStoreError({ operation, reason: "Unavailable", cause: new Error("secret address") })
              )
              : effect
          )
        return TaskStore.TaskStore.of({
          ...store,
          create: (task, options) => gate("create", store.create(task, options)),
          read: (taskId) => gate("read", store.read(taskId)),
          view: (taskId) => gate("view", store.view(taskId)),
          replace: (stored, next) => gate("replace", store.replace(stored, next))
        })
      })
    ).pipe(Layer.provide(TaskStore.layerMemory))

  it.effect("is an internal error in short words, its cause is logged, and service goes on", () =>
    Effect.gen(function*() {
      let isDown = false
      let runs = 0
      const logs: Array<string> = []
      const script: Script = (text) =>
        Effect.suspend(() => {
          runs++
          return text === "wait" ? Effect.never : Effect.succeed(text)
        })
      const server = yield* start({ logs, script, store: faulty(() => isDown) })
      const taskId = yield* server.create("job", "wait")
      isDown = true
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        yield* expect(server.ask(method, { taskId, inputResponses: {} }), 200, unreachable)
      }
      yield* expect(server.ask("tools/call", { name: "job", arguments: { text: "wait" } }), 200, unreachable)
      for (let poll = 0; poll < 100; poll++) yield* expect(server.ask("tasks/get", { taskId }), 200, unreachable)
      const said = () => logs.filter((line) => line.startsWith("Requests ")).map((line) => line.slice(0, 30))
      assert.deepStrictEqual(said(), ["Requests cannot be served, sin"])
      assert.strictEqual(runs, 1)
      assert.include((yield* server.ask("tools/call", { name: "plain", arguments: { text: "hi" } })).body, "hi")
      isDown = false
      assert.include((yield* server.ask("tasks/get", { taskId })).body, `"status":"working"`)
      yield* server.ask("tasks/update", { taskId, inputResponses: {} })
      // Of all that failed, calls of this tool and cancels have not been seen to work yet.
      yield* server.create("job", "wait")
      assert.lengthOf(said(), 1)
      yield* server.ask("tasks/cancel", { taskId })
      assert.deepStrictEqual(said().slice(1), ["Requests that need the task st"])
      // Nobody sees the second outage end, and the third is told all the same.
      for (const pause of ["0 seconds", "50 seconds", "61 seconds"] as const) {
        yield* TestClock.adjust(pause)
        isDown = true
        yield* expect(server.ask("tasks/get", { taskId }), 200, unreachable)
        isDown = false
      }
      assert.deepStrictEqual(said().slice(2), ["Requests cannot be served, sin", "Requests cannot be served, sin"])
    }))

  it.effect("a store that dies is an internal error", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const dying = Layer.effect(
        TaskStore.TaskStore,
        Effect.map(TaskStore.TaskStore, (store) =>
          TaskStore.TaskStore.of({ ...store, view: () => Effect.die(new Error("secret address")) }))
      ).pipe(Layer.provide(TaskStore.layerMemory))
      const server = yield* start({ logs, store: dying })
      yield* expect(server.ask("tasks/get", { taskId: "any" }), 200, internal)
      assert.isTrue(logs.some((line) => line.startsWith("A request broke") && line.includes("secret address")))
    }))
})

const bob = TaskOwner.principal({ issuer: "https://issuer.example", subject: "bob" })

describe("owners", () => {
  it.effect("nothing of one is seen or changed by another [I2]", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const taskId = yield* server.create("job", "ask")
      const before = yield* server.ask("tasks/get", { taskId })
      const others = [
        bob,
        TaskOwner.anonymous,
        TaskOwner.principal({ issuer: "https://other.example", subject: "ada" }),
        TaskOwner.principal({ issuer: "https://issuer.example", subject: "ada", tenant: "t" })
      ]
      const inputResponses = { name: { action: "accept", content: { name: "Eve" } } }
      for (const owner of others) {
        for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
          const foreign = yield* server.ask(method, { taskId, inputResponses }, { owner })
          const unknown = yield* server.ask(method, { taskId: "unknown", inputResponses }, { owner })
          assert.deepStrictEqual(foreign, unknown)
          assert.deepStrictEqual(JSON.parse(foreign.body ?? ""), notFound(method))
        }
        // An answer that would not fit does not tell either that there is a question.
        const unfit = { taskId, inputResponses: { name: 1 } }
        yield* expect(server.ask("tasks/update", unfit, { owner }), 200, notFound("tasks/update"))
      }
      yield* settle
      assert.deepStrictEqual(yield* server.ask("tasks/get", { taskId }, { owner: { ...ada } }), before)
    }))
})

describe("admission", () => {
  it.effect("one sample of each refusal comes back with its status and its id", () =>
    Effect.gen(function*() {
      const server = yield* start()
      const version = message("tools/list").replace(`"2026-07-28"`, `"2025-11-25"`)
      const samples: ReadonlyArray<readonly [body: string, status: number, code: number, id: Schema.Json]> = [
        ["{", 400, -32700, null],
        ["", 400, -32700, null],
        ["[]", 400, -32600, null],
        [`{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600, null],
        [`{"jsonrpc":"1.0","id":"a","method":"tools/list"}`, 400, -32600, "a"],
        [`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`, 400, -32602, "a"],
        [version, 400, -32022, 1],
        [message("nothing/there"), 404, -32601, 1],
        [message("tools/list", { cursor: "1" }), 200, -32602, 1]
      ]
      for (const [body, status, code, id] of samples) {
        const reply = yield* server.send(body)
        const { error, id: answered } = read(reply.body)
        assert.deepStrictEqual([reply.httpStatus, error?.code, answered], [status, code, id], body)
      }
    }))
})
