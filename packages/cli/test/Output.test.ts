/** What is printed: nothing of a server's that could act on a terminal, and an error where it does not arrive. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, PlatformError, Sink, Stdio } from "effect"
import * as TestConsole from "effect/testing/TestConsole"
import * as CliFailure from "../src/CliFailure.ts"
import * as Output from "../src/Output.ts"

/** Everything a terminal could act on, or that turns text around: C0, DEL, C1, other ends of lines, directions. */
const acting = [
  ...Array.from({ length: 32 }, (_, code) => code).filter((code) => code !== 9 && code !== 10),
  ...Array.from({ length: 33 }, (_, code) => 0x7f + code),
  0x61c,
  0x200e,
  0x200f,
  0x2028,
  0x2029,
  0x202a,
  0x202e,
  0x2066,
  0x2069
].map((code) => String.fromCharCode(code))

const printed = <E>(effect: Effect.Effect<void, E, Stdio.Stdio>) => {
  const chunks: Array<string> = []
  const stdout = () =>
    Sink.forEach((chunk: string | Uint8Array) =>
      Effect.sync(() => chunks.push(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk)))
    )
  return Effect.map(Effect.provide(effect, Stdio.layerTest({ stdout })), () => chunks.join(""))
}

describe("text", () => {
  it.effect.each(acting)("has no %j, and JSON has it escaped", (character) =>
    Effect.gen(function*() {
      const text = `a${character}b`
      assert.strictEqual(Output.plain(text), "a\ufffdb")
      assert.notInclude(Output.oneLine(text), character)
      for (const value of [{ text }, { [text]: 1 }, [text]]) {
        const json = yield* printed(Output.json(value))
        assert.notInclude(json, character)
        assert.deepStrictEqual(JSON.parse(json), value)
      }
    }))

  it("keeps what belongs to it", () => {
    assert.strictEqual(Output.plain("é 日本 👩‍💻\tb\nc"), "é 日本 👩‍💻\tb\nc")
    assert.strictEqual(Output.oneLine("a\n\tb\r\nc"), "a b c")
  })
})

describe("a task", () => {
  const view = {
    status: "working",
    taskId: "t\n1",
    statusMessage: "half\n2026-11-30T00:00:00Z  completed",
    createdAt: 0,
    lastUpdatedAt: 0,
    ttlMs: null,
    pollIntervalMs: undefined
  } as const

  it("stays on its line, whatever it says", () => {
    assert.strictEqual(Output.line(view), "working  half 2026-11-30T00:00:00Z  completed")
    assert.strictEqual(Output.details(view).split("\n").length, 5)
  })
})

describe("a result", () => {
  it.effect("without text is its structured content, escaped", () =>
    Effect.gen(function*() {
      const structuredContent = { a: "\u009b31m\u202e" }
      const text = yield* printed(Output.result({ content: [], structuredContent }, false))
      assert.strictEqual(text, `{\n  "a": "\\u009b31m\\u202e"\n}\n`)
    }))

  it.effect("that does not arrive is a failure", () =>
    Effect.gen(function*() {
      const description = "full"
      const full = PlatformError.systemError({ _tag: "Unknown", module: "Stdio", method: "stdout", description })
      const stdio = Stdio.layerTest({ stdout: () => Sink.fail(full) })
      const failed = yield* Effect.flip(Effect.provide(Output.print("x"), stdio))
      assert.match(failed.message, /could not be written: .*full/)
      assert.strictEqual(failed.exitCode, 1)
    }))
})

describe("a failure", () => {
  const failed = new CliFailure.CliFailure({
    message: "first\nmcp-tasks: forged\u001b[2J",
    hint: "Look at t\u009b1",
    exitCode: 2,
    result: { content: [], isError: true }
  })
  const said = (asJson: boolean) =>
    Effect.andThen(Output.failure(failed, asJson), TestConsole.errorLines).pipe(Effect.map((lines) => lines.join("\n")))

  it.effect("cannot be forged by a message, nor act on the terminal by its hint", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* said(false),
        "mcp-tasks: first\n  mcp-tasks: forged\ufffd[2J\nLook at t\ufffd1"
      )
    }).pipe(Effect.provide(TestConsole.layer)))

  it.effect("is one JSON document with everything in it", () =>
    Effect.gen(function*() {
      const { exitCode, message, result } = JSON.parse(yield* said(true))
      assert.deepStrictEqual([exitCode, message, result], [2, failed.message, { content: [], isError: true }])
    }).pipe(Effect.provide(TestConsole.layer)))
})

