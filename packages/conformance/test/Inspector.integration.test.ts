/** MCP Inspector of the current era on our server, over HTTP and over the standard streams. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import * as ServeProcess from "../src/ServeProcess.ts"
import * as Inspector from "./InspectorProgram.ts"

const program = fileURLToPath(new URL("../src/serve.ts", import.meta.url))

const fromSource = [process.execPath, "--conditions=@effect-mcp-tasks/source", program, "--transport", "stdio"]

/** How a server is reached, for as long as the scope. Over stdio the Inspector starts it. */
const targets = {
  HTTP: Effect.map(ServeProcess.start({ store: "sqlite" }), ({ url }): Inspector.Target => [url]),
  stdio: Effect.succeed<Inspector.Target>([...fromSource, "--store", "sqlite"])
}

const Listed = Schema.Struct({ tools: Schema.Array(Schema.Struct({ name: Schema.String })) })
const CallResult = Schema.Struct({
  content: Schema.Array(Schema.Struct({ text: Schema.String })),
  isError: Schema.optionalKey(Schema.Boolean),
  resultType: Schema.Literal("complete")
})

const read = <T extends Schema.Codec<unknown, unknown>>(schema: T, ended: Inspector.Ended) =>
  Effect.flatMap(Inspector.json(ended), Schema.decodeUnknownEffect(schema))

/** The names of the fixtures, in the order of `tools/list`, as far as they matter here. */
const fixtures = ["greet", "slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input"]

/** The text of a result, where one is printed as it came. */
const textOf = (ended: Inspector.Ended) =>
  Effect.map(read(CallResult, ended), ({ content }) => content.map(({ text }) => text).join())

/** `--cli` wraps what it prints. */
const ListedWrapped = Schema.Struct({ result: Listed })
const Wrapped = Schema.Struct({ result: CallResult })

const cliTextOf = (ended: Inspector.Ended) =>
  Effect.map(read(Wrapped, ended), ({ result }) => result.content.map(({ text }) => text).join())

it("is the version that has the current era", () => assert.strictEqual(Inspector.version, "2.12.0"))

for (const [transport, target] of Object.entries(targets)) {
  describe(`MCP Inspector over ${transport}`, () => {
    it.live("--cli lists tools, calls one, and follows tasks to their results", () =>
      Effect.gen(function*() {
        const env = yield* Inspector.home
        const server = yield* target
        const listed = yield* read(ListedWrapped, yield* Inspector.cli(env, server, "tools/list"))
        const names = listed.result.tools.map(({ name }) => name)
        assert.deepStrictEqual(names.filter((name) => fixtures.includes(name)), fixtures)

        const greeted = yield* Inspector.call(env, server, "greet", { name: "Ada" })
        assert.strictEqual(yield* cliTextOf(greeted), "Hello, Ada!")

        // Refused with -32021 unless it may be a task, so its result is the result of one.
        const failing = yield* Inspector.call(env, server, "failing_job")
        assert.strictEqual(yield* cliTextOf(failing), "The job did not succeed")
        assert.strictEqual(failing.code, 5)

        const broken = yield* Inspector.call(env, server, "protocol_error_job")
        assert.notStrictEqual(broken.code, 0)
        assert.include(broken.stderr, "The upstream service broke")

        // It declares no elicitation, so nobody is asked.
        const unasked = yield* Inspector.call(env, server, "confirm_delete", { filename: "a.txt" })
        assert.strictEqual(yield* cliTextOf(unasked), "Kept a.txt: nobody can be asked")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    it.live("mcpdo lists tools, and follows tasks that ask to their results", () =>
      Effect.gen(function*() {
        const env = yield* Inspector.home
        const connection = yield* Inspector.connect(env, yield* target)
        const { tools } = yield* read(Listed, yield* connection.listTools)
        assert.includeMembers(tools.map(({ name }) => name), fixtures)
        assert.strictEqual(yield* textOf(yield* connection.call("greet", { name: "Ada" })), "Hello, Ada!")

        const confirm = yield* Inspector.pending(yield* connection.call("confirm_delete", { filename: "a.txt" }))
        assert.strictEqual(confirm.message, "Delete a.txt?")
        assert.strictEqual(confirm.origin, "task-input-required")
        const deleted = yield* connection.respond(confirm.elicitationId, ["confirm:=true"])
        assert.strictEqual(yield* textOf(deleted), "Deleted a.txt")

        const again = yield* Inspector.pending(yield* connection.call("confirm_delete", { filename: "b.txt" }))
        const declined = yield* connection.respond(again.elicitationId, ["--decline"])
        assert.strictEqual(yield* textOf(declined), "Kept b.txt")

        const first = yield* Inspector.pending(yield* connection.call("multi_input"))
        const second = yield* Inspector.pending(yield* connection.respond(first.elicitationId, ["name:=Ada"]))
        assert.notStrictEqual(second.elicitationId, first.elicitationId)
        const both = yield* connection.respond(second.elicitationId, ["confirm:=true"])
        assert.sameMembers((yield* textOf(both)).split(","), [`{"name":"Ada"}`, `{"confirm":true}`])

        // Asked within the call, before there is a task.
        const user = yield* Inspector.pending(yield* connection.call("test_tool_with_task"))
        assert.notStrictEqual(user.origin, "task-input-required")
        const worked = yield* connection.respond(user.elicitationId, ["name:=Ada"])
        assert.strictEqual(yield* textOf(worked), "Worked for Ada")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  })
}
