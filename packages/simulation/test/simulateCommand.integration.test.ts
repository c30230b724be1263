/** The commands of the simulation as processes: what they refuse, and what they say of a failure. */
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
      [["--seed", "3", "--seeds", "5"], /--seed shows one seed, and has no use for --seeds/],
      [["--seed", "3", "--complete", "--from", "2"], /--seed shows one seed, and has no use for --from, --complete/],
      [["--sabotage", "list", "--seeds", "3"], /--sabotage list only lists, and has no use for --seeds/],
      [["--sabotage", "fencing dropped", "--complete"], /--sabotage stops[^\n]*has no use for --complete/],
      [["--seeds", "2", "--seeds", "3"], /--seeds[^\n]*at most 1/],
      [["--sede", "3"], /Unrecognized[^\n]*--sede/],
      [["--sabotage", "rain"], /There is no sabotage "rain"/],
      [["77"], /Unexpected[^\n]*"77"/]
    ]
    for (const [args, why] of wrong) {
      const { status, stderr, stdout } = run("simulate", ...args)
      assert.strictEqual(status, 1, args.join(" "))
      assert.match(stderr, why)
      assert.strictEqual(stdout, "")
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
    const listed = run("modelcheck", "--without", "list", "--deep")
    assert.strictEqual(listed.status, 1)
    assert.match(listed.stderr, /--without list only lists, and has no use for --deep/)
  }, 60_000)
})

describe("npm run transcripts", () => {
  it("runs and shows the one that is named, and refuses a name that there is not", () => {
    const { status, stdout } = run("transcripts", "lost-signal")
    assert.strictEqual(status, 0)
    assert.match(stdout, /\n *\d+ +server 1 +task 1: [^\n]*\n[\s\S]*lost-signal\.md: as expected\n1 transcripts, 0 not/)
    assert.strictEqual(run("transcripts", "lost-signal.md", "--rewrite").status, 0)
    const unknown = run("transcripts", "lost")
    assert.strictEqual(unknown.status, 1)
    assert.match(unknown.stderr, /There is no transcript "lost", but\n[\s\S]*\n +lost-signal\n/)
  }, 60_000)
})
