/** The client's programs, run as a reader runs them, against the server of `npm start`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as Program from "./Program.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"

const node = process.execPath

const started = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const args = [...Program.fromSource("main.ts"), "--port", "0", "--file", join(directory, "tasks.sqlite")]
  const { welcome } = yield* Program.launch(node, args, { isUp: /Ctrl\+C/ })
  const [, origin = ""] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(welcome) ?? []
  return { url: `${origin}/mcp`, directory }
})

/** What one who sits at a program types, each thing once its cue has appeared. */
type Typed = ReadonlyArray<readonly [cue: RegExp, keys: string]>

/** Runs a program with someone at it. */
const attended = (args: ReadonlyArray<string>, typed: Typed) =>
  Effect.callback<{ readonly code: number | null; readonly printed: string }>((resume) => {
    const child: ChildProcess = spawn(node, args, { cwd: Program.root, stdio: "pipe" })
    const rest = [...typed]
    let printed = ""
    const read = (chunk: unknown) => {
      printed += String(chunk)
      const [next] = rest
      if (next === undefined || !next[0].test(printed)) return
      rest.shift()
      child.stdin?.write(next[1])
    }
    child.stdout?.on("data", read)
    child.stderr?.on("data", read)
    child.once("close", (code) => resume(Effect.succeed({ code, printed })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

describe("npm run example:client", () => {
  it.live("asks the question of the tool here, and prints its result", () =>
    Effect.gen(function*() {
      const { url } = yield* started
      const { code, printed } = yield* attended([...Program.fromSource("client.ts"), url], [
        [/overwrite ›/, "y"],
        [/Send this answer\?/, "\r"]
      ])
      assert.include(printed, "Overwrite it with 48210 rows?")
      assert.include(printed, "Wrote 48210 rows to report.csv")
      assert.strictEqual(code, 0)
    }))

  it.live("says in one sentence that nobody is there", () =>
    Effect.gen(function*() {
      const { code, printed } = yield* attended([...Program.fromSource("client.ts"), "http://127.0.0.1:9/mcp"], [])
      assert.include(printed, "http://127.0.0.1:9/mcp was not reached")
      assert.strictEqual(code, 1)
    }))
})

describe("the program of the guide on resuming", () => {
  /** Runs it until it ends, or for so long. */
  const life = Effect.fnUntraced(function*(args: ReadonlyArray<string>, ms: number) {
    const child = spawn(node, args, { cwd: Program.root, stdio: ["ignore", "pipe", "inherit"] })
    let printed = ""
    child.stdout.on("data", (chunk) => printed += String(chunk))
    const closed = Effect.callback<boolean>((resume) => {
      child.once("close", (_, signal) => resume(Effect.succeed(signal !== null)))
    })
    const closing = yield* Effect.forkChild(closed, { startImmediately: true })
    const ended = yield* Effect.timeoutOption(Fiber.await(closing), ms)
    if (Option.isNone(ended)) child.kill("SIGKILL")
    return { isKilled: yield* Fiber.join(closing), printed }
  })

  it.live("comes to its result, however often it is killed, and asks once", () =>
    Effect.gen(function*() {
      const { directory, url } = yield* started
      const open = join(directory, "open")
      const args = [...Program.fromSource("resuming.ts"), url, open]
      // From before the call to after the answer, on machines of any speed.
      const lives = [1500, 2200, 2900, 3600, 4500, 60_000]
      const result = /Wrote 48210 rows to report\.csv/
      const printed: Array<string> = []
      let isForgotten = false
      for (const ms of lives) {
        const { isKilled, printed: said } = yield* life(args, ms)
        printed.push(said)
        isForgotten = !isKilled
        // One that is killed after its result has nothing left to go on with: its next run would begin anew.
        if (!isKilled || result.test(said)) break
      }
      const all = printed.join("\n")
      assert.match(all, result, all)
      const asked = [...all.matchAll(/^Asked/gm)].length
      const again = [...all.matchAll(/^Asked again/gm)].length
      assert.isAtMost(asked - again, 1, all)
      if (isForgotten) assert.deepStrictEqual(readdirSync(open), [])
    }))
})

describe("npm run example:promise", () => {
  it.live("builds the package, and runs on plain Node", () =>
    Effect.gen(function*() {
      const { url } = yield* started
      const tsc = join(Program.root, "node_modules/typescript/bin/tsc")
      const built = yield* Program.run(node, [tsc, "-b", "packages/client"])
      assert.strictEqual(built.code, 0, built.stdout)
      const example = Program.source("withoutEffect.mjs")
      const { code, stderr, stdout } = yield* Program.run(node, [example, url], { env: { PATH: process.env["PATH"] } })
      assert.strictEqual(stderr, "")
      assert.include(stdout, "Asked: report.csv exists already. Overwrite it with 48210 rows? Yes.")
      assert.strictEqual(stdout.trimEnd().split("\n").at(-1), "Wrote 48210 rows to report.csv")
      assert.strictEqual(code, 0)
    }))
})
