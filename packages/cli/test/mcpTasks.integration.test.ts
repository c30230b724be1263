import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cli from "./Cli.ts"

const Line = Schema.fromJsonString(Schema.JsonObject)
const lines = (text: string) => text.trim().split("\n").map((line) => Schema.decodeSync(Line)(line))
const json = (text: string) => lines(text)[0] ?? {}

const args = JSON.stringify({ rows: 42 })
const done = "Wrote 42 rows to report.csv\n"

/** A call that works for as long as a test needs. */
const long = ["slow_compute", `{"seconds":600}`]

describe("mcp-tasks, with nobody at a terminal", () => {
  it.live("calls, answers in advance, and prints nothing but the result on the standard output", () =>
    Effect.gen(function*() {
      const { file, url } = yield* Cli.serve
      const called = yield* Cli.run(["call", url, "export_report", args, "--answer", "overwrite=true"])
      assert.deepStrictEqual([called.code, called.stdout], [0, done])
      assert.match(called.stderr, /working {2}Querying 42 rows/)

      const declined = yield* Cli.run(["call", url, "export_report", "-", "--json", "--decline"], args)
      assert.deepStrictEqual([declined.code, declined.stdout], [2, ""])
      assert.strictEqual(json(declined.stderr)["exitCode"], 2)
      assert.propertyVal(json(declined.stderr)["result"], "isError", true)

      const failing = JSON.stringify({ reportId: "q", simulateFail: true })
      const failed = yield* Cli.run(["call", url, "summarize_report", failing, "--answer", "redaction_level=none"])
      assert.strictEqual(failed.code, 3)
      assert.include(failed.stderr, "Upstream summarizer timed out (-32603)")

      const counted = yield* Cli.run(["tasks", "stats", "--file", file, "--json"])
      assert.deepStrictEqual(json(counted.stdout)["status"], { completed: 2, failed: 1 })
    }))

  it.live("leaves a task, and looks, answers, watches and cancels from other shells", () =>
    Effect.gen(function*() {
      const { file, url } = yield* Cli.serve
      const detached = Cli.run(["call", url, "export_report", args, "--detach"])
      const detach = Effect.map(detached, ({ stdout }) => stdout.trim())
      const first = yield* detach
      const unanswered = yield* Cli.run(["call", url, "export_report", args])
      assert.strictEqual(unanswered.code, 6)
      assert.include(unanswered.stderr, "it asks for overwrite")

      assert.strictEqual((yield* Cli.run(["answer", url, first, "overwrite=maybe"])).code, 6)
      assert.strictEqual(json((yield* Cli.run(["get", url, first, "--json"])).stdout)["status"], "input_required")
      const answered = yield* Cli.run(["answer", url, first, "overwrite=true", "--json"])
      assert.deepStrictEqual(json(answered.stdout), { taskId: first, answered: ["confirm-overwrite"] })
      const watched = yield* Cli.run(["watch", url, first])
      assert.deepStrictEqual([watched.code, watched.stdout], [0, done])
      const again = yield* Cli.run(["watch", url, first, "--json"])
      assert.strictEqual(lines(again.stdout).at(-1)?.["status"], "completed")

      const second = yield* detach
      assert.strictEqual((yield* Cli.run(["cancel", url, second])).code, 0)
      assert.strictEqual((yield* Cli.run(["watch", url, second])).code, 4)
      assert.strictEqual((yield* Cli.run(["cancel", url, "unknown"])).code, 5)

      const shown = yield* Cli.run(["tasks", "show", second, "--file", file, "--json"])
      assert.strictEqual(json(shown.stdout)["status"], "cancelled")
      const listed = yield* Cli.run(["tasks", "list", "--file", file, "--status", "completed", "--json"])
      assert.deepStrictEqual(lines(listed.stdout).map(({ taskId }) => taskId), [first])
      const purge = ["tasks", "purge", "--file", file, "--json"]
      assert.deepStrictEqual(json((yield* Cli.run(purge)).stdout), { wouldRemove: 2 })
      assert.deepStrictEqual(json((yield* Cli.run([...purge, "--yes"])).stdout), { removed: 2 })
      // The one that waits for its answer is live, and stays.
      assert.strictEqual(json((yield* Cli.run(["tasks", "stats", "--file", file, "--json"])).stdout)["total"], 1)
    }))

  it.live("says in a sentence what was wrong, and what to do", () =>
    Effect.gen(function*() {
      const missing = join(yield* Cli.directory, "none.sqlite")
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
        [["tools"], 1, /Which server\? Give its address/],
        [["tools", "localhost"], 1, /"localhost" is not the address of a server/],
        [["get", "http://127.0.0.1:9/mcp"], 1, /TASK is missing/],
        [["call", "http://127.0.0.1:9/mcp", "tool", "[1]"], 1, /not a JSON object: \[1\]/],
        [["call", "http://127.0.0.1:9/mcp", "tool", "{}", "more"], 1, /one argument too many/],
        [["call", "http://127.0.0.1:9/mcp", "tool", "-"], 1, /standard input is empty/],
        [["tools", "http://127.0.0.1:9/mcp", "--token", "\u2603"], 1, /token is none/],
        [["tasks", "list", "--file", missing, "--limit", "-1"], 1, /--limit/],
        [["tasks", "lst", "--json"], 1, /^\{"message":"Unknown subcommand.*\}\n$/]
      ]
      for (const [given, code, sentence] of cases) {
        const ended = yield* Cli.run(given)
        assert.deepStrictEqual([ended.code, ended.stdout], [code, ""], given.join(" "))
        assert.match(ended.stderr, sentence)
        assert.notInclude(ended.stderr, "    at ")
      }
    }))

  it.live("leaves its task when it is interrupted, and says which", () =>
    Effect.gen(function*() {
      const { url } = yield* Cli.serveSlow
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        const { code, stderr, stdout } = yield* Cli.signalled(["call", url, ...long], signal, /working/)
        assert.deepStrictEqual([code, stdout], [130, ""])
        const [, task = ""] = /Interrupted; task (\S+) goes on\nLook again with `mcp-tasks watch/.exec(stderr) ?? []
        assert.strictEqual(json((yield* Cli.run(["get", url, task, "--json"])).stdout)["status"], "working")
      }
    }))

  it.live("reads answers from a file, and says what is wrong with it", () =>
    Effect.gen(function*() {
      const { url } = yield* Cli.serve
      const answers = join(yield* Cli.directory, "answers.json")
      writeFileSync(answers, `{"confirm-overwrite.overwrite":true}`)
      const called = yield* Cli.run(["call", url, "export_report", args, "--answers", answers])
      assert.deepStrictEqual([called.code, called.stdout], [0, done])
      writeFileSync(answers, "[]")
      const refused = yield* Cli.run(["call", url, "export_report", args, "--answers", answers])
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, "answers.json cannot be used")
    }))
})

const hasTerminals = spawnSync("script", ["--version"]).status === 0

describe.skipIf(!hasTerminals)("mcp-tasks in a terminal", () => {
  it.live("asks the question there, and prints the result", () =>
    Effect.gen(function*() {
      const { url } = yield* Cli.serve
      const { code, screen } = yield* Cli.inTerminal(["call", url, "export_report", args], [
        [/y\/N/, "y"],
        [/Decline to answer/, "\r"]
      ])
      assert.strictEqual(code, 0, screen)
      assert.include(screen, done.trim())
    }))

  it.live("cancels the task when the person turns away", () =>
    Effect.gen(function*() {
      const { file, url } = yield* Cli.serveSlow
      const { code, screen } = yield* Cli.inTerminal(["call", url, ...long], [[/working/, "\u0003"]])
      assert.strictEqual(code, 130, screen)
      assert.match(screen, /Interrupted; task \S+ was asked to stop/)
      const counted = yield* Cli.run(["tasks", "stats", "--file", file, "--json"])
      assert.deepStrictEqual(json(counted.stdout)["status"], { cancelled: 1 })
    }))

  it.live("asks there too when the result goes to a file, and nothing else goes there", () =>
    Effect.gen(function*() {
      const { url } = yield* Cli.serve
      const output = join(yield* Cli.directory, "result.txt")
      const typing: Cli.Typing = [[/y\/N/, "y"], [/Decline to answer/, "\r"]]
      const { code, screen } = yield* Cli.inTerminal(["call", url, "export_report", args], typing, output)
      assert.strictEqual(code, 0, screen)
      assert.strictEqual(readFileSync(output, "utf8"), done)
      assert.include(screen, "Querying 42 rows")
    }))

  it.live("redraws one line while it watches", () =>
    Effect.gen(function*() {
      const { url } = yield* Cli.serveSlow
      const task = (yield* Cli.run(["call", url, ...long, "--detach"])).stdout.trim()
      const redrawn = yield* Deferred.make<void>()
      const watching = yield* Effect.forkChild(Cli.inTerminal(["watch", url, task], [
        [/(\d\d:\d\d {2}working.*){2}/s, () => Deferred.doneUnsafe(redrawn, Effect.void)]
      ]))
      yield* Deferred.await(redrawn)
      yield* Cli.run(["cancel", url, task])
      const { code, screen } = yield* Fiber.join(watching)
      assert.strictEqual(code, 4, screen)
      const drawn = screen.split("\r\u001b[K").filter((line) => /^\d\d:\d\d {2}working[^\n]*$/.test(line))
      assert.isAtLeast(drawn.length, 2, screen)
    }))
})
