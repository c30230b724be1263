/**
 * A measured server as a child process: started, asked for its CPU time, and stopped.
 *
 * CPU time is that of the server's process alone, user and system. It comes from the server's own
 * `process.cpuUsage()` over IPC; where a server does not answer, from `/proc/PID/stat`; where there is no `/proc`,
 * it is reported as unknown and never guessed.
 *
 * @since 0.1.0
 */
import type { ChildProcess } from "node:child_process"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { ServerEntry } from "./servers.ts"

/** Reads the CPU time that a server has used since it started, in microseconds. */
export type CpuClock = () => Promise<number | undefined>

/** Is a server that accepts requests at `url`. */
export interface ServerProcess {
  readonly name: string
  readonly url: string
  readonly cpuMicros: CpuClock
  readonly cpuSource: "process.cpuUsage" | "/proc" | "unknown"
  readonly stop: () => Promise<void>
}

const startMillis = 20_000
const answerMillis = 1000

const within = <A>(promise: Promise<A>, milliseconds: number, what: string): Promise<A> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(what)), milliseconds)
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const announcedUrl = async (name: string, child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error(`${name} has no stdout`)
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${name} ended with code ${code} before it listened`)
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = await within(Promise.race([once(lines, "line"), ended]), startMillis, `${name} does not listen`)
  const announcement: { readonly url?: string } = JSON.parse(line)
  if (announcement.url === undefined) throw new Error(`${name} announced no url: ${line}`)
  return announcement.url
}

const askChild = (child: ChildProcess): CpuClock => async () => {
  child.send("cpu")
  const [usage] = await within(once(child, "message"), answerMillis, "The server does not tell its CPU time")
  return usage.user + usage.system
}

/** Reads fields 14 and 15 (utime, stime) of `/proc/PID/stat`: clock ticks, counted after the parenthesised name. */
const readProc = (pid: number): CpuClock => {
  const microsPerTick = 1_000_000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))
  return async () => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return (Number(fields[11]) + Number(fields[12])) * microsPerTick
  }
}

const chooseClock = async (child: ChildProcess): Promise<Pick<ServerProcess, "cpuMicros" | "cpuSource">> => {
  const ask = askChild(child)
  const answers = await ask().then(() => true, () => false)
  if (answers) return { cpuMicros: ask, cpuSource: "process.cpuUsage" }
  if (child.pid !== undefined && existsSync(`/proc/${child.pid}/stat`)) {
    return { cpuMicros: readProc(child.pid), cpuSource: "/proc" }
  }
  return { cpuMicros: async () => undefined, cpuSource: "unknown" }
}

/**
 * Starts a server and waits until it announces its url; rejects when it ends, or stays silent for 20 s.
 *
 * `directory` is where the server may keep files; the caller removes it after the server has stopped.
 */
export const start = async (entry: ServerEntry, directory: string): Promise<ServerProcess> => {
  const program = fileURLToPath(new URL(entry.program, import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, program, ...entry.args(directory), "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })
  const exited = once(child, "exit")
  const stop = async () => {
    child.kill("SIGKILL")
    await exited
  }
  try {
    const url = await announcedUrl(entry.name, child)
    return { name: entry.name, url, ...await chooseClock(child), stop }
  } catch (cause) {
    await stop()
    throw cause
  }
}
