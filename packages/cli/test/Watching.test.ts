/** The line that is redrawn. */
import { assert, describe, it } from "@effect/vitest"
import * as CliOutput from "effect/cli/CliOutput"
import * as Watching from "../src/Watching.ts"

const view = (statusMessage: string, createdAt: number | undefined = undefined) => ({
  status: "working" as const,
  taskId: "t1",
  statusMessage,
  createdAt,
  lastUpdatedAt: undefined,
  ttlMs: undefined,
  pollIntervalMs: undefined
})

const minute = 60_000

describe("the live line", () => {
  it("is narrower than the terminal, whatever its characters, and breaks none", () => {
    const family = "👩‍👩‍👧"
    for (const text of ["plain text that is long", "日本語の長いテキスト", family.repeat(9), "é́".repeat(40), "a\nb"]) {
      for (let columns = 1; columns <= 40; columns++) {
        const line = Watching.liveLine(view(text), { beganAt: 0, columns, now: 0 })
        assert.isBelow(CliOutput.displayWidth(line), columns)
        assert.notInclude(line, "\n")
        assert.isTrue(line.isWellFormed())
      }
    }
    const wide = Watching.liveLine(view("日本"), { beganAt: 0, columns: 19, now: 0 })
    assert.strictEqual(wide, "00:00  working  日")
  })

  it("is whole where the width is not known", () => {
    assert.strictEqual(
      Watching.liveLine(view("x".repeat(300)), { beganAt: 0, columns: 0, now: 0 }).length,
      "00:00  working  ".length + 300
    )
  })

  it("counts from the creation of the task, and from the beginning of the watch where that is unknown or ahead", () => {
    const at = (createdAt: number | undefined) =>
      Watching.liveLine(view("", createdAt), { beganAt: 100 * minute, columns: 80, now: 101 * minute })
    assert.strictEqual(at(0), "01:41:00  working")
    assert.strictEqual(at(undefined), "01:00  working")
    assert.strictEqual(at(200 * minute), "01:00  working")
  })
})
