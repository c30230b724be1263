import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DemoClient } from "../src/DemoClient.ts"
import * as Program from "./Program.ts"
import { temporaryDirectory } from "./temporaryDirectory.ts"
import { create, http, result } from "./TestServer.ts"

const node = process.execPath

/** The commands that `npm start` prints, in their order, each without its heading. */
const commandsOf = (welcome: string) =>
  welcome.slice(welcome.indexOf("# 1."), welcome.indexOf("Ctrl+C")).split("\n\n").map((it) => it.replace(/^#.*\n/, ""))
    .filter((it) => it.trim() !== "")

const urlOf = (printed: string) => {
  const [, origin] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(printed) ?? []
  assert(origin !== undefined, printed)
  return `${origin}/mcp`
}

/** Polls in real time, since the server has its own. */
const ended = Effect.fnUntraced(function*(client: DemoClient, taskId: string) {
  while (true) {
    const task = yield* result(client.getTask(taskId))
    if (task.status !== "working") return task
    yield* Effect.sleep("100 millis")
  }
})

const isUp = /Ctrl\+C/

const hasCurl = spawnSync("bash", ["-c", "command -v curl"]).status === 0

describe("npm start", () => {
  it.live("prints commands that create, poll, answer and complete a task of each tool in bash [A3]", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "new", "tasks.sqlite")
      const args = ["start", "--", "--port", "0", "--file", file]
      const { welcome } = yield* Program.launch("npm", args, { isUp })
      assert.include(welcome, "at http://127.0.0.1:")
      assert.include(welcome, "export_report {rows}")
      assert.include(welcome, "summarize_report {reportId, simulateFail?}")
      const [exporting = "", poll = "", confirm = "", summarizing = "", choose = ""] = commandsOf(welcome)
      assert.include(exporting, "curl")
      if (!hasCurl) return
      const asked = yield* Program.run("bash", [], { input: [exporting, poll].join("\n") })
      assert.strictEqual(asked.stderr, "")
      assert.match(asked.stdout, /"status":"input_required".*"confirm-overwrite"[^\n]*\n$/)
      const exported = yield* Program.run("bash", [], { input: [exporting, poll, confirm, poll].join("\n") })
      assert.strictEqual(exported.stderr, "")
      assert.match(exported.stdout, /"status":"completed".*Wrote 42 rows to report.csv[^\n]*\n$/)
      const summarized = yield* Program.run("bash", [], { input: [summarizing, poll, choose, poll].join("\n") })
      assert.match(summarized.stdout, /"status":"completed".*Redaction level: partial[^\n]*\n$/)
    }))

  it.live("says that its port is taken, and leaves alone the tasks of the server that runs there", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "tasks.sqlite")
      const main = Program.fromSource("main.ts")
      const first = yield* Program.launch(node, [...main, "--port", "0", "--file", file], { isUp })
      const client = new DemoClient(urlOf(first.welcome))
      const taskId = yield* create(client, "export_report", { rows: 7 })
      assert.strictEqual((yield* ended(client, taskId)).status, "input_required")

      const port = new URL(urlOf(first.welcome)).port
      const second = yield* Program.run(node, [...main, "--port", port, "--file", file])
      assert.strictEqual(second.code, 1)
      assert.include(second.stderr, `Port ${port} is in use`)

      const accept = { action: "accept", content: { overwrite: true } }
      yield* result(client.updateTask(taskId, { "confirm-overwrite": accept }))
      assert.strictEqual((yield* ended(client, taskId)).status, "completed")
    }).pipe(http))

  it.live("keeps its file for itself, and ends with 0 when it is told to", () =>
    Effect.gen(function*() {
      const file = join(yield* temporaryDirectory, "tasks.sqlite")
      const args = [...Program.fromSource("main.ts"), "--port", "0", "--file", file]
      const first = yield* Program.launch(node, args, { isUp })
      assert.include(first.welcome, `kept in ${file} (process `)
      const second = yield* Program.run(node, args)
      assert.strictEqual(second.code, 1)
      assert.include(second.stderr, `${file} is kept by another process`)
      assert.strictEqual(yield* first.terminate, 0)
    }))

  it.live("promises no file where there is none", () =>
    Effect.gen(function*() {
      const args = [...Program.fromSource("main.ts"), "--port", "0", "--file", ":memory:"]
      const { welcome } = yield* Program.launch(node, args, { isUp: /Ctrl\+C.*\n/ })
      assert.include(welcome, "kept in memory (process ")
      assert.notInclude(welcome, "stay in the file")
    }))

  it.live("says in a sentence what is wrong with its options, and ends with 1", () =>
    Effect.gen(function*() {
      const damaged = join(yield* temporaryDirectory, "damaged.sqlite")
      writeFileSync(damaged, "not a database ".repeat(100))
      const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
        [["--port", "99999"], /--port.*between 0 and 65535/],
        [["--port", "0", "--file", damaged], /damaged\.sqlite cannot be used: .*not a SQLite database/],
        [["--port", "0", "--file", ""], /--file needs the name of a file/],
        [["--prot", "0"], /Unrecognized flag: --prot/]
      ]
      for (const [args, sentence] of wrong) {
        const ended = yield* Program.run(node, [...Program.fromSource("main.ts"), ...args])
        assert.strictEqual(ended.code, 1)
        assert.match(ended.stderr, sentence)
        assert.notInclude(ended.stderr, "    at ")
      }
    }))
})

describe("npm run demo", () => {
  it.live("ends by itself, with every status seen and the restart survived, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* Program.run(node, Program.fromSource("demo.ts"))
      assert.strictEqual(code, 0, `${stdout}\n${stderr}`)
      assert.strictEqual(stdout.trimEnd().split("\n").at(-1), "demo: all five statuses seen, the restart survived")
      const statuses = [...stdout.matchAll(/tasks\/get +(\w+)/g)].map(([, status = ""]) => status)
      assert.sameMembers([...new Set(statuses)], ["working", "input_required", "completed", "failed", "cancelled"])
      const [, file = ""] = /its tasks in (\S+)/.exec(stdout) ?? []
      assert.match(file, /tasks\.sqlite$/)
      assert.isFalse(existsSync(join(file, "..")))
    }))
})

describe("the documentation", () => {
  const read = (path: string) => readFileSync(join(Program.root, path), "utf8")

  const codeOf = (markdown: string) => [...markdown.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, code = ""]) => code)

  /** A file without the header that is for its own readers. */
  const fileOf = (path: string) => {
    const text = read(path)
    return text.slice(text.indexOf("\nimport ") + 1)
  }
  const programOf = (name: string) => fileOf(`packages/examples/src/${name}`)
  const testOf = (name: string) => fileOf(`packages/examples/test/${name}`)

  it("shows the programs that are run here", () => {
    assert.deepStrictEqual(codeOf(read("README.md")), [programOf("readme.ts"), programOf("client.ts")])
    assert.strictEqual(codeOf(read("docs/guides/calling-long-tools.md")).join("\n"), programOf("calling.ts"))
    assert.deepStrictEqual(codeOf(read("docs/guides/resuming-after-a-crash.md")), [programOf("resuming.ts")])
    assert.deepStrictEqual(codeOf(read("docs/guides/without-effect.md")), [programOf("withoutEffect.mjs")])
    assert.strictEqual(codeOf(read("docs/guides/writing-a-tool.md")).join("\n"), programOf("guide.ts"))
    assert.deepStrictEqual(codeOf(read("docs/guides/stdio.md")), [programOf("stdio.ts")])
    const observed = [programOf("observed.ts"), programOf("replicaObservability.ts")]
    assert.deepStrictEqual(codeOf(read("docs/guides/observing.md")), observed)
    assert.strictEqual(codeOf(read("docs/guides/asking.md")).join("\n"), programOf("asking.ts"))
    assert.strictEqual(codeOf(read("docs/guides/securing-a-server.md")).join("\n"), programOf("secured.ts"))
    assert.strictEqual(codeOf(read("docs/guides/testing-a-tool.md")).join("\n"), testOf("testingATool.test.ts"))
    const store = codeOf(read("docs/guides/writing-a-store.md"))
    assert.strictEqual(store.slice(0, -1).join("\n"), programOf("LogTaskStore.ts"))
    assert.strictEqual(store.at(-1), testOf("LogTaskStore.test.ts"))
  })

  it("links to files that exist", () => {
    const files = readdirSync(join(Program.root, "docs/guides")).filter((name) => name.endsWith(".md"))
    const guides = files.map((name) => `docs/guides/${name}`)
    const pages = ["README.md", "docs/ARCHITECTURE.md", ...guides]
    for (const page of pages) {
      for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
        assert.isTrue(existsSync(join(Program.root, page, "..", target)), `${page} links to ${target}`)
      }
    }
  })

  it.live("has a server in the README whose task survives kill -9", () =>
    Effect.gen(function*() {
      const options = { cwd: yield* temporaryDirectory, env: { ...process.env, PORT: "0" }, isUp: /Listening on/ }
      const first = yield* Program.launch(node, Program.fromSource("readme.ts"), options)
      const taskId = yield* create(new DemoClient(urlOf(first.welcome)), "countdown", { from: 1 })
      yield* first.kill
      const second = yield* Program.launch(node, Program.fromSource("readme.ts"), options)
      const task = yield* ended(new DemoClient(urlOf(second.welcome)), taskId)
      assert.strictEqual(task.status, "completed")
      assert.strictEqual(task.result.content[0]?.text, "Lift-off")
    }).pipe(http))
})
