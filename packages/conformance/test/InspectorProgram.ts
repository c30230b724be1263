/**
 * The two programs of MCP Inspector that can be scripted: `--cli`, which connects for one request and ends, and
 * `mcpdo`, which keeps connections open in a process of its own and hands on what a server asks.
 *
 * `--cli` declares that nobody can be asked anything (`elicit: false`, which no flag changes), so a task with input is
 * followed by `mcpdo`. The era has another flag there: `--era modern` for `--protocol-era modern`.
 */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const manifestPath = fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/package.json"))

const Manifest = Schema.fromJsonString(Schema.Struct({
  version: Schema.String,
  bin: Schema.Struct({ inspector: Schema.String, mcpdo: Schema.String })
}))

const manifest = Schema.decodeSync(Manifest)(readFileSync(manifestPath, "utf8"))

/** The version that is installed. */
export const version = manifest.version

const programOf = (name: keyof typeof manifest.bin) => join(dirname(manifestPath), manifest.bin[name])

/** What a program printed, and how it ended. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A program printed something else than it should. */
export class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", {
  code: Schema.Int,
  stdout: Schema.String,
  stderr: Schema.String
}) {}

/** Standard output as JSON of some form. */
const printed = <A>(schema: Schema.Codec<A, Schema.JsonObject>, ended: Ended) =>
  Effect.mapError(Schema.decodeEffect(Schema.fromJsonString(schema))(ended.stdout), () => new Unexpected(ended))

/** The JSON on standard output. */
export const json = (ended: Ended) => printed(Schema.JsonObject, ended)

/** A place for the Inspector's files: its home, its daemon's socket. Both end with the scope. */
export const home = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "insp-"))
    return {
      HOME: directory,
      MCP_INSPECTOR_SECRET_STORE: "memory",
      MCP_INSPECTOR_DAEMON_DIR: directory,
      MCP_INSPECTOR_DAEMON_TOKEN: directory.padEnd(32, "0").replaceAll(/\W/g, "0")
    }
  }),
  ({ HOME }) => Effect.sync(() => rmSync(HOME, { recursive: true, force: true }))
)

/** What both programs find in their environment. */
export type Home = Effect.Success<typeof home>

const run = (env: Home, args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const child = yield* ChildProcess.make(process.execPath, args, { stdin: "ignore", env, extendEnv: true })
    const read = (stream: typeof child.stdout) => Stream.mkString(Stream.decodeText(stream))
    const ended: Ended = yield* Effect.all(
      { code: child.exitCode, stdout: read(child.stdout), stderr: read(child.stderr) },
      { concurrency: "unbounded" }
    )
    return ended
  })).pipe(Effect.timeout("60 seconds"), Effect.provide(NodeServices.layer))

/** How a server is reached: its address, or the command that starts it. */
export type Target = ReadonlyArray<string>

/** One request by `--cli`. */
export const cli = (env: Home, target: Target, method: string, args: ReadonlyArray<string> = []) =>
  run(env, [
    programOf("inspector"),
    "--cli",
    "--quiet",
    "--format=json",
    "--protocol-era=modern",
    `--method=${method}`,
    ...args,
    ...(target.length === 1 ? target : ["--", ...target])
  ])

/** `tools/call` by `--cli`. */
export const call = (env: Home, target: Target, tool: string, args: Schema.JsonObject = {}) =>
  cli(env, target, "tools/call", ["--tool-name", tool, "--tool-args-json", JSON.stringify(args)])

const mcpdo = (env: Home, args: ReadonlyArray<string>) => run(env, [programOf("mcpdo"), "--format", "json", ...args])

/** A question that waits for its answer. */
const Pending = Schema.Struct({
  elicitationPending: Schema.Struct({
    elicitationId: Schema.String,
    message: Schema.String,
    origin: Schema.String
  })
})

/** A question that waits for its answer, as a command of `mcpdo` hands it on. */
export const pending = (ended: Ended) =>
  Effect.map(printed(Pending, ended), ({ elicitationPending }) => elicitationPending)

/** A connection of `mcpdo`, and the process that holds it; both end with the scope. */
export const connect = Effect.fnUntraced(function*(env: Home, target: Target) {
  const command = target.length === 1 ? target : ["--", ...target]
  const connected = yield* Effect.acquireRelease(
    mcpdo(env, ["connect", "--era", "modern", "--elicit", "form", ...command]),
    () => Effect.ignore(mcpdo(env, ["daemon", "stop"]))
  )
  const said = yield* json(connected)
  assert.strictEqual(said["protocolEra"], "modern")
  const on = (args: ReadonlyArray<string>) => mcpdo(env, ["--connection", String(said["name"]), ...args])
  return {
    listTools: on(["tools/list"]),
    call: (tool: string, args: Schema.JsonObject = {}) =>
      on(["tools/call", tool, "--tool-args-json", JSON.stringify(args)]),
    respond: (id: string, args: ReadonlyArray<string>) => mcpdo(env, ["elicitation/respond", id, ...args])
  }
})
