/**
 * Programs of this package, run as a reader runs them.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The path of a file in `src/`. */
export const source = (name: string) => fileURLToPath(new URL(`../src/${name}`, import.meta.url))

/** The arguments of Node that run a program from source. */
export const fromSource = (name: string) => ["--conditions=@effect-mcp-tasks/source", source(name)]

/** How a program is run. */
export interface Options {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
}

const start = (command: string, args: ReadonlyArray<string>, options: Options) => {
  const child = spawn(command, args, { cwd: root, ...options, detached: true, stdio: "pipe" })
  child.stdin.end(options.input ?? "")
  return child
}

/** Children lead a process group of their own, so that what they start ends with them. */
const kill = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("close", () => resume(Effect.void))
    process.kill(-child.pid, "SIGKILL")
  })

/** Runs a program to its end. */
export const run = (command: string, args: ReadonlyArray<string>, options: Options = {}) =>
  Effect.scoped(Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(Effect.sync(() => start(command, args, options)), kill)
    return yield* Effect.callback<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>(
      (resume) => {
        const out = { stdout: "", stderr: "" }
        child.stdout.on("data", (chunk) => out.stdout += String(chunk))
        child.stderr.on("data", (chunk) => out.stderr += String(chunk))
        child.once("error", (error) => resume(Effect.die(error)))
        child.once("close", (code) => resume(Effect.succeed({ code, ...out })))
      }
    )
  }))

/** A program that runs until its scope closes or it is killed. */
export interface Running {
  /** What it has printed until it said that it is up. */
  readonly welcome: string
  readonly kill: Effect.Effect<void>
  /** Asks it to end, and says with which code it did. */
  readonly terminate: Effect.Effect<number | null>
}

/** Starts a program, and waits until it has printed something that matches. */
export const launch = Effect.fnUntraced(function*(
  command: string,
  args: ReadonlyArray<string>,
  { isUp, ...options }: Options & { readonly isUp: RegExp }
) {
  const child = yield* Effect.acquireRelease(Effect.sync(() => start(command, args, options)), kill)
  const welcome = yield* Effect.callback<string>((resume) => {
    let printed = ""
    const read = (chunk: unknown) => {
      printed += String(chunk)
      if (isUp.test(printed)) resume(Effect.succeed(printed))
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.once("error", (error) => resume(Effect.die(error)))
    child.once("close", () => resume(Effect.die(new Error(`${command} ended:\n${printed}`))))
  })
  const terminate = Effect.callback<number | null>((resume) => {
    child.once("close", (code) => resume(Effect.succeed(code)))
    child.kill("SIGTERM")
  })
  return { welcome, kill: kill(child), terminate } satisfies Running as Running
})
