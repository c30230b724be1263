/** The command line, run as a process, and a server for it. */
import { Effect } from "effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../bin/mcp-tasks.mjs", import.meta.url))

/** How a command ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const slow = fileURLToPath(new URL("../../conformance/src/serve.ts", import.meta.url))

const environment = { ...process.env, NO_COLOR: "1", TERM: "xterm" }

const launch = (command: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(command, args, { env: environment, stdio: "pipe" })),
    (child) => Effect.sync(() => child.kill("SIGTERM"))
  )

const ended = (
  args: ReadonlyArray<string>,
  input: string,
  onError: (said: string, child: ChildProcessWithoutNullStreams) => void
) =>
  Effect.scoped(Effect.flatMap(launch(process.execPath, [bin, ...args]), (child) =>
    Effect.callback<Ended>((resume) => {
      const said = { stdout: "", stderr: "" }
      child.stdout.on("data", (chunk) => said.stdout += String(chunk))
      child.stderr.on("data", (chunk) => {
        said.stderr += String(chunk)
        onError(said.stderr, child)
      })
      child.once("close", (code) => resume(Effect.succeed({ code, ...said })))
      child.stdin.end(input)
    })))

/** Runs a command to its end, with nobody at a terminal. */
export const run = (args: ReadonlyArray<string>, input = "") => ended(args, input, () => undefined)

/** Runs a command, and sends its process, and no other, a signal once it has said something on its standard error. */
export const signalled = (args: ReadonlyArray<string>, signal: NodeJS.Signals, said: RegExp) => {
  let isSent = false
  return ended(args, "", (text, child) => {
    if (isSent || !said.test(text)) return
    isSent = true
    child.kill(signal)
  })
}

/** A directory that goes with the scope. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-tasks-cli-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A server that says where it listens, for as long as the scope lives. */
const listening = (args: ReadonlyArray<string>, said: RegExp) =>
  Effect.flatMap(launch(process.execPath, args), (child) =>
    Effect.callback<string>((resume) => {
      let output = ""
      child.stdout.on("data", (chunk) => {
        output += String(chunk)
        const found = said.exec(output)?.[1]
        if (found !== undefined) resume(Effect.succeed(found))
      })
      child.stderr.on("data", (chunk) => output += String(chunk))
      child.once("close", () => resume(Effect.die(new Error(`The server ended: ${output}`))))
    }))

/** The example server on a store, for as long as the scope lives. */
export const serveOn = (...store: ReadonlyArray<string>) =>
  listening([bin, "serve", "--port", "0", ...store], /Serving MCP tasks at (\S+),/)

/** The server of the conformance tests, on a new SQLite file: its `slow_compute` works for as long as a test needs. */
export const serveSlow = Effect.gen(function*() {
  const file = join(yield* directory, "tasks.sqlite")
  const args = ["--conditions=@effect-mcp-tasks/source", slow, "--port", "0", "--store", "sqlite", "--file", file]
  return { url: yield* listening(args, /"url":"([^"]+)"/), file }
})

/** The example server on a new SQLite file, for as long as the scope lives. */
export const serve = Effect.gen(function*() {
  const file = join(yield* directory, "tasks.sqlite")
  return { url: yield* serveOn("--file", file), file }
})

/** What a person types or does, each once the terminal shows what it waits for. */
export type Typing = ReadonlyArray<readonly [shown: RegExp, keys: string | (() => void)]>

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Runs a command in a terminal of its own (`script` makes one), its output redirected if wanted, and types. */
export const inTerminal = (args: ReadonlyArray<string>, typing: Typing, output?: string) => {
  const words = [process.execPath, bin, ...args].map(quoted).join(" ")
  const command = output === undefined ? words : `${words} > ${quoted(output)}`
  return Effect.scoped(Effect.flatMap(launch("script", ["-qec", command, "/dev/null"]), (child) =>
    Effect.callback<{ readonly code: number | null; readonly screen: string }>((resume) => {
      const rest = [...typing]
      let screen = ""
      let unread = ""
      child.stdout.on("data", (chunk) => {
        screen += String(chunk)
        unread += String(chunk)
        const [next] = rest
        if (next === undefined || !next[0].test(unread)) return
        rest.shift()
        unread = ""
        if (typeof next[1] === "string") child.stdin.write(next[1])
        else next[1]()
      })
      child.once("close", (code) => resume(Effect.succeed({ code, screen })))
    })))
}
