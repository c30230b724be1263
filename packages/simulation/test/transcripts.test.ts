/** Every transcript has the history that it says it has: `npm run transcripts -- --rewrite` renews them. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import * as Transcript from "../src/Transcript.ts"

const folder = new URL("../transcripts/", import.meta.url)
const names = readdirSync(folder).filter((name) => name.endsWith(".md"))
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8")

describe("a transcript", () => {
  for (const name of names) {
    it(`goes as written: ${name}`, () => {
      const { actual, expected, violations } = Result.getOrThrow(Transcript.perform(read(name)))
      assert.deepStrictEqual(violations, [])
      assert.isTrue(actual === expected, Transcript.diff(expected, actual))
    })

    it(`explains itself: ${name}`, () => {
      const [title = "", explanation = ""] = read(name).split("```scenario")[0]?.split(/\n\n([\s\S]*)/) ?? []
      assert.match(title, /^# .{20,}/)
      assert.isAbove(explanation.length, 150)
    })
  }

  it("is there for every race that is worth explaining", () => {
    const races = ["cancel", "complete", "answer", "deadline", "two-workers", "lost-reply", "crash-between", "shutdown"]
    for (const race of races) assert.isTrue(names.some((name) => name.startsWith(race)), race)
  })

  it("shows what differs, with what is around it", () => {
    const lines = (...words: ReadonlyArray<string>) => words.join("\n")
    const text = lines("one", "two", "three", "four", "five", "six")
    assert.strictEqual(
      Transcript.diff(text, text.replace("four", "vier")),
      lines("  two", "  three", "- four", "+ vier", "  five", "  six")
    )
    assert.strictEqual(Transcript.diff(text, text), "")
    assert.strictEqual(Transcript.diff("a\nb", "a"), lines("  a", "- b"))
  })

  it("says what it lacks", () => {
    assert.match(Result.getOrThrow(Result.flip(Transcript.perform("# Nothing"))), /needs a block/)
    const text = "```scenario\nsed 7\n```\n```trace\n```\n"
    assert.match(Result.getOrThrow(Result.flip(Transcript.perform(text))), /no line of a scenario/)
  })
})
