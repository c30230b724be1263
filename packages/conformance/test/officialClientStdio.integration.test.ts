/** The official client starts our server, over the standard streams. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { attempt, clientInfo, protocolVersion } from "../src/official/OfficialClient.ts"

const program = fileURLToPath(new URL("../src/fuzz/fuzzed.ts", import.meta.url))

const connect = Effect.acquireRelease(
  Effect.gen(function*() {
    const client = new Client(clientInfo, { capabilities: {}, versionNegotiation: { mode: { pin: protocolVersion } } })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["--conditions=@effect-mcp-tasks/source", program, "stdio"]
    })
    yield* attempt("connect", () => client.connect(transport))
    return client
  }),
  (client) => Effect.ignore(attempt("close", () => client.close()))
)

describe("the official client over stdio", () => {
  it.live("lists tools and calls them, many at a time, and bears their progress", () =>
    Effect.gen(function*() {
      const client = yield* connect
      const { tools } = yield* attempt("tools/list", () => client.listTools())
      assert.includeMembers(tools.map(({ name }) => name), ["echo", "fail", "job"])
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`)
      const answers = yield* Effect.forEach(texts, (text) =>
        attempt("tools/call", () => client.callTool({ name: "echo", arguments: { text } })), { concurrency: 20 })
      const content = texts.map((text) => [{ type: "text" as const, text }])
      assert.deepStrictEqual(answers.map((answer) => answer.content), content)
      const progress: Array<number> = []
      yield* attempt("tools/call", () =>
        client.callTool({ name: "echo", arguments: { text: "reports" } }, {
          onprogress: ({ progress: done }) => void progress.push(done)
        }))
      // This client forgets what it has not handed on when the result is read with it: all of it may be lost to it.
      assert.deepStrictEqual(progress, progress.map((_, index) => index + 1))
    }))

  it.live("listens, and learns that what nothing is granted of ends in good order", () =>
    Effect.gen(function*() {
      const client = yield* connect
      const subscription = yield* attempt("listen", () => client.listen({ toolsListChanged: true }))
      assert.deepStrictEqual(subscription.honoredFilter, {})
      assert.strictEqual(yield* attempt("closed", () => subscription.closed), "graceful")
    }))
})
