import { TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import * as FixtureServer from "../src/FixtureServer.ts"
import * as FixtureStore from "../src/FixtureStore.ts"
import * as HostileFixtures from "../src/fixtures/HostileFixtures.ts"
import * as Caller from "./Caller.ts"

const offered = Layer.provide(TaskTools.layer(HostileFixtures.toolkit), HostileFixtures.layer)

/** Without loggers: every refused result is logged with its cause, as it should be. */
const served = (store: FixtureStore.StoreName) =>
  FixtureServer.layer(0).pipe(
    Layer.provide([offered, FixtureStore.layers[store]({ file: undefined })]),
    Layer.provideMerge(Logger.layer([]))
  )

/** Generous: what matters is that an answer comes at all. */
const soon = Effect.timeout("1 minute")

type Tool = "hostile_result" | "hostile_failure"

const expectedOf = (tool: Tool, { structured, text }: HostileFixtures.HostileEnd & { readonly _tag: "Carried" }) => ({
  resultType: "complete",
  content: [{ type: "text", text }],
  ...(tool === "hostile_failure" ? { isError: true } : {}),
  ...(tool === "hostile_failure" || structured === undefined ? {} : { structuredContent: structured })
})

const assertRefusal = (error: { readonly code: number; readonly message: string } | undefined) => {
  assert.strictEqual(error?.code, -32603)
  assert.isBelow(error?.message.length ?? Infinity, 200)
  assert.notMatch(error?.message ?? "", /secret|\n|node_modules/)
}

const assertResult = (result: unknown, tool: Tool, end: HostileFixtures.HostileEnd) => {
  if (end._tag === "Refused") return assert.isUndefined(result)
  const { _meta, ...rest } = Object(result)
  assert.deepStrictEqual(rest, expectedOf(tool, end))
}

const callOf = (tool: Tool, kind: string) => ({
  method: "tools/call",
  params: { name: tool, arguments: { kind } }
})

const asPlainCall = Effect.fnUntraced(function*(tool: Tool, kind: string, end: HostileFixtures.HostileEnd) {
  const url = yield* FixtureServer.url
  const answered = yield* soon(Caller.ask(url, callOf(tool, kind)))
  assert.strictEqual(answered.id, 1)
  if (end._tag === "Refused") assertRefusal(answered.error)
  assertResult(answered.result, tool, end)
  const next = yield* soon(Caller.ask(url, callOf("hostile_result", "the next request")))
  assertResult(next.result, "hostile_result", { _tag: "Carried", structured: undefined, text: "the next request" })
})

const asTask = Effect.fnUntraced(function*(tool: Tool, kind: string, end: HostileFixtures.HostileEnd) {
  const url = yield* FixtureServer.url
  const { taskId } = yield* soon(Caller.create(url, tool, { kind }))
  const task = yield* Caller.until(url, taskId, Caller.hasEnded)
  assert.strictEqual(task.status, end._tag === "Refused" ? "failed" : "completed")
  if (end._tag === "Refused") {
    assertRefusal(task.error)
    assert.strictEqual(task.statusMessage, task.error?.message)
  }
  assertResult(task.result, tool, end)
  assert.strictEqual((yield* Caller.get(url, taskId)).status, task.status)
})

const tools: ReadonlyArray<Tool> = ["hostile_result", "hostile_failure"]

for (const store of FixtureStore.names) {
  for (const tool of tools) {
    describe(`${tool} on ${store}`, () => {
      layer(served(store), { excludeTestServices: true })((it) => {
        for (const [kind, { end }] of Object.entries(HostileFixtures.values)) {
          const outcome = end._tag === "Refused" ? "is refused" : "is carried"
          it.effect(`${kind} ${outcome} in a plain call`, () => asPlainCall(tool, kind, end))
          it.effect(`${kind} ${outcome} in a task`, () => asTask(tool, kind, end))
        }
      })
    })
  }
}
