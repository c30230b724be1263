/** The programs of the guide on stores: what they change of the README's program, and that their tasks survive. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as OwnServer from "../../engine/test/OwnServer.ts"
import * as services from "../../engine/test/services.ts"
import { DemoClient } from "../src/DemoClient.ts"
import * as Program from "./Program.ts"
import { create, http, result } from "./TestServer.ts"

const read = (path: string) => readFileSync(join(Program.root, path), "utf8")

/** A program without the header that is for its own readers. */
const programOf = (name: string) => {
  const text = read(`packages/examples/src/${name}`)
  return text.slice(text.indexOf("\nimport ") + 1)
}

const guide = read("docs/guides/choosing-a-store.md")
const diffs = [...guide.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, diff = ""]) => diff)

/** The lines of a hunk that begin with a sign, without it. */
const linesOf = (hunk: string, sign: "+" | "-") =>
  hunk.split("\n").filter((line) => line.startsWith(sign)).map((line) => `${line.slice(1)}\n`).join("")

/** Puts the added lines of each hunk where its removed lines are. */
const apply = (program: string, diff: string): string =>
  diff.split("@@\n").reduce((text, hunk) => {
    const removed = linesOf(hunk, "-")
    assert.strictEqual(text.split(removed).length, 2, `${removed} is once in the program`)
    return text.replace(removed, () => linesOf(hunk, "+"))
  }, program)

/** What names a store or its client. */
const storage = /SqliteClient|NodeRedis|PgClient|TaskStore\.layer\w+/

/** A line without what names storage, and without the imports that only storage needs. */
const rest = (diff: string) =>
  diff.split("\n").filter((line) => /^[-+]/.test(line) && !storage.test(line) && !/^[-+]import /.test(line))

describe("the guide on stores", () => {
  it("changes the storage layers and their imports, and nothing else", () => {
    assert.strictEqual(diffs.length, 2)
    for (const diff of diffs) assert.deepStrictEqual(rest(diff), [])
  })

  it("shows what makes the programs that are run here", () => {
    const [redis = "", postgres = ""] = diffs
    assert.strictEqual(apply(programOf("readme.ts"), redis), programOf("readmeRedis.ts"))
    assert.strictEqual(apply(programOf("readme.ts"), postgres), programOf("readmePostgres.ts"))
  })
})

/** Kills the program in the middle of a task, and sees the task end in the next one. */
const survives = Effect.fnUntraced(function*(name: string, env: NodeJS.ProcessEnv) {
  const options = { env: { ...process.env, PORT: "0", ...env }, isUp: /Listening on "?http:\/\/\S+:\d+/ }
  const urlOf = (printed: string) => `${/http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]}/mcp`
  const first = yield* Program.launch(process.execPath, Program.fromSource(name), options)
  const taskId = yield* create(new DemoClient(urlOf(first.welcome)), "countdown", { from: 1 })
  yield* first.kill
  const second = yield* Program.launch(process.execPath, Program.fromSource(name), options)
  const client = new DemoClient(urlOf(second.welcome))
  while (true) {
    const task = yield* result(client.getTask(taskId))
    if (task.status !== "working") return assert.strictEqual(task.status, "completed")
    yield* Effect.sleep("100 millis")
  }
})

const test = <A, E>(title: string, effect: Effect.Effect<A, E, Scope.Scope>) =>
  it.live(title, () => Effect.scoped(effect))

describe("a task of the README's program survives kill -9", () => {
  services.withService(services.redisBinary, () => {
    test("in Redis", Effect.gen(function*() {
      const { url } = yield* OwnServer.redis("--appendonly", "yes")
      yield* survives("readmeRedis.ts", { REDIS_URL: url })
    }).pipe(http))
  })

  services.withService(services.postgres, (url) => {
    test("in Postgres", Effect.gen(function*() {
      const schema = yield* services.postgresNewSchema(url)
      const here = new URL(url)
      here.searchParams.set("options", `-c search_path=${schema}`)
      yield* survives("readmePostgres.ts", { DATABASE_URL: here.href })
    }).pipe(http))
  })
})
