import { assert, describe, it } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import * as Statements from "../src/internal/statements.ts"

describe("statement cache", () => {
  const make = (capacity: number) => Statements.make(new DatabaseSync(":memory:"), capacity)

  it("never holds more than its capacity", () => {
    for (const capacity of [0, 1, 2, 3, 8, 9]) {
      const statements = make(capacity)
      for (let round = 0; round < 2; round++) {
        for (let i = 0; i < 50; i++) {
          assert.deepStrictEqual({ ...statements.get(`SELECT ${i} AS n`).statement.get() }, { n: i })
          assert.isAtMost(statements.size(), capacity)
        }
      }
    }
  })

  it("prepares a text once, and keeps one in use while others pass through", () => {
    const statements = make(8)
    const hot = statements.get("SELECT 'hot'")
    for (let i = 0; i < 100; i++) {
      statements.get(`SELECT ${i}`)
      assert.strictEqual(statements.get("SELECT 'hot'"), hot)
    }
  })
})
