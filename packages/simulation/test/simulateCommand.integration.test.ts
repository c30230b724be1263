/** `npm run simulate` and `npm run modelcheck` as processes: what they refuse, and what they say of a failure. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const run = (program: string, ...args: ReadonlyArray<string>) => {
  const file = fileURLToPath(new URL(`../src/bin/${program}.ts`, import.meta.url))
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--conditions=@effect-mcp-tasks/source", file, ...args],
    { encoding: "utf8", timeout: 120_000 }
  )
  return { status, stderr, stdout }
}

describe("npm run simulate", () => {
  it("refuses what would run nothing, or something else than was asked for", () => {
    const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, why: RegExp]> = [
      [["--seeds", "0"], /--seeds[^\n]*"0"[^\n]*between 1 and/],
      [["--seeds", "-3"], /--seeds[^\n]*"-3"[^\n]*between 1 and/],
      [["--seeds", "many"], /--seeds[^\n]*"many"/],
      [["--threads", "0"], /--threads[^\n]*"0"[^\n]*between 1 and/],
      [["--size", "0"], /--size[^\n]*"0"[^\n]*between 1 and/],
      [["--from", "-1"], /--from[^\n]*"-1"[^\n]*between 0 and/],
      [["--seed", "4294967296"], /--seed[^\n]*"4294967296"[^\n]*between 0 and/],
      [["--from", "4294967290"], /The last seed is 4294967295/],
      [["--seed", "3", "--complete"], /--complete is for many seeds/],
      [["--sabotage", "rain"], /There is no sabotage "rain"/],
      [["77"], /Unexpected[^\n]*"77"/]
    ]
    for (const [args, why] of wrong) {
      const { status, stderr, stdout } = run("simulate", ...args)
      assert.strictEqual(status, 1, args.join(" "))
      assert.match(stderr, why)
      assert.notMatch(stdout, /with violations/)
    }
  })

  it("says of a failure what it was caused by, and how to see all of it again", () => {
    const name = "ordinary race taken for a broken invariant"
    const { status, stdout } = run("simulate", "--seeds", "60", "--size", "2", "--threads", "1", "--sabotage", name)
    assert.strictEqual(status, 1)
    assert.match(stdout, /seed \d+: defect: server [^\n]*A request broke\n +VersionConflict/)
    const [, seed = ""] = /npm run simulate -- --seed (\d+) --size 2 --sabotage "ordinary race/.exec(stdout) ?? []
    const again = run("simulate", "--seed", seed, "--size", "2", "--sabotage", name)
    assert.strictEqual(again.status, 1)
    assert.match(again.stdout, /\ndefect: server [^\n]*A request broke\n *VersionConflict/)
  })
})

describe("npm run modelcheck", () => {
  it("refuses a part that the model does not have", () => {
    const { status, stderr } = run("modelcheck", "--without", "rain")
    assert.strictEqual(status, 1)
    assert.match(stderr, /The model has no part "rain": --without list/)
  })
})
