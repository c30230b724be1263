/**
 * Runs a fixture as a real process, from source.
 */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Whom file modes bind, as they do not bind the superuser: somebody else then. */
export const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** Runs `test/fixtures/<name>` to its end and answers with its exit code and everything it printed. */
export const runChild = (
  name: string,
  args: ReadonlyArray<string>,
  identity: { readonly uid?: number; readonly gid?: number } = {}
) =>
  Effect.callback<{ readonly code: number | null; readonly output: string }>((resume) => {
    const script = fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
    const child = spawn(process.execPath, ["--conditions=@effect-mcp-tasks/source", script, ...args], identity)
    let output = ""
    child.stdout.on("data", (chunk) => output += String(chunk))
    child.stderr.on("data", (chunk) => output += String(chunk))
    child.on("close", (code) => resume(Effect.succeed({ code, output })))
    return Effect.sync(() => child.kill())
  })

/** Starts `test/fixtures/<name>`, and is there once it has printed something. It ends with the scope, if not before. */
export const startChild = (name: string, args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly kill: Effect.Effect<void> }>((resume) => {
      const script = fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url))
      const child = spawn(process.execPath, ["--conditions=@effect-mcp-tasks/source", script, ...args])
      const ended = new Promise((resolve) => child.on("close", resolve))
      const kill = Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
      child.stdout.once("data", () => resume(Effect.succeed({ kill: Effect.asVoid(kill) })))
    }),
    ({ kill }) => kill
  )
