/** That a slow tool is not taken for a lost reply, and that whoever is too slow for real is told so. */
import { TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { TestTasks } from "@effect-mcp-tasks/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { TestClock } from "effect/testing"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as replies from "../src/internal/replies.ts"

const hours = Schema.Struct({ hours: Schema.Number })

const Inline = Tool.make("inline", { parameters: hours, success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "10 days", inlineWithin: "3 days" })

const Plain = Tool.make("plain", { parameters: hours, success: Schema.String })

const Never = Tool.make("never", { parameters: Schema.Struct({}), success: Schema.String })

const Real = Tool.make("real", { parameters: Schema.Struct({}), success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "1 hour" })

const Pipe = Tool.make("pipe", { parameters: Schema.Struct({ path: Schema.String }), success: Schema.String })
  .annotate(TaskTool.Policy, { ttl: "1 hour" })

const Kit = Toolkit.make(Inline, Plain, Never, Real, Pipe)

const sleep = ({ hours }: { readonly hours: number }) => Effect.as(Effect.sleep(`${hours} hours`), "slept")

const tools = Layer.provide(
  TaskTools.layer(Kit),
  Kit.toLayer({
    inline: sleep,
    plain: sleep,
    never: () => Effect.never,
    real: () => Effect.as(Effect.promise(() => setTimeout(3_000)), "done"),
    pipe: ({ path }) => Effect.promise(() => readFile(path, "utf8"))
  })
)

const server = Effect.provide(TestTasks.layerMemory(tools))

describe("a request of a test for a tool that is slow", () => {
  for (const tool of ["inline", "plain"]) {
    it.effect(`is waited for: ${tool}, for hours and days`, () =>
      Effect.gen(function*() {
        const tasks = yield* TestTasks.TestTasks
        for (const hours of [1.5, 9, 24]) {
          const { content } = yield* tasks.send("tools/call", { name: tool, arguments: { hours } })
          assert.deepStrictEqual(content, [{ type: "text", text: "slept" }])
        }
      }).pipe(server))
  }

  it.effect("is not waited for where nothing is to happen", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const lost = yield* Effect.exit(tasks.send("tools/call", { name: "never", arguments: {} }))
      assert.include(JSON.stringify(lost), "turns of the clock")
    }).pipe(server))

  it.effect("ends in words where a handler is at work for ever", () =>
    Effect.gen(function*() {
      const time = {
        settled: Effect.succeed(false),
        isBusy: Effect.succeed(false),
        hasOverrun: () => false,
        rest: () => Effect.void,
        goOn: TestClock.adjust("1 minute"),
        isAtWork: () => true
      }
      const lost = yield* Effect.exit(replies.whileTimePasses("tools/call", Effect.never, time))
      assert.include(JSON.stringify(lost), "which are 69d 10h 40m; a tool was at work all the time: it is slow")
    }))

  it.effect("says so where a handler works for real, and longer than it is waited for", () =>
    Effect.gen(function*() {
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("real", {})
      const never = yield* Effect.flip(task.until("completed"))
      assert.include(never.message, "The task has expired before it ended")
      assert.include(never.message, "took longer than two seconds")
    }).pipe(server))

  it.effect("waits for a file for as long as it takes", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "pipe-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(directory, "pipe")
      spawnSync("mkfifo", [path])
      const tasks = yield* TestTasks.TestTasks
      const task = yield* tasks.call("pipe", { path })
      // Longer than anything else is waited for. Not ours to wait for: the file is what the handler does.
      spawn("sh", ["-c", `sleep 3; echo late > ${path}`], { stdio: "ignore" }).unref()
      const { result } = yield* task.until("completed")
      assert.deepStrictEqual(result["content"], [{ type: "text", text: "late\n" }])
    }).pipe(server))
})
