// Runs a command of this repository from a clone in any state: installs what is missing first, then uses the
// Node that the repository pins rather than the one that happens to be on the PATH.
//
//   node scripts/run.mjs <script.ts | tool of node_modules/.bin> [arguments]
//
// Plain JavaScript without dependencies, since nothing is installed yet when it starts, and in the syntax of
// Node 18, since that may be what starts it. Exit code: the child's, 128 + n when signal n ended it, 127 when
// the tool does not exist, 2 when called without a command, 1 when the installation failed.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, "node_modules", ".bin")
const pinnedNode = join(bin, "node")
const lockFile = join(root, "package-lock.json")
const installed = join(root, "node_modules", ".package-lock.json")
const lock = join(root, ".install-lock")

/** The oldest Node the sources run on: it strips types and has `node:sqlite` without a flag. */
const minimumNode = [22, 19]

const fail = (code, message) => {
  console.error(message)
  process.exit(code)
}

/** Whether this very process is a Node that could run the sources, should the pinned one not exist here. */
const isOwnNodeEnough = () => {
  const [major, minor] = process.versions.node.split(".").map(Number)
  return major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])
}

/** The PATH without the pinned Node: `npm ci` deletes that one while it runs, so npm must not run on it. */
const systemPath = () => (process.env.PATH ?? "").split(delimiter).filter((entry) => entry !== bin).join(delimiter)

/** Whether what the lock file asks for differs from what npm says it installed. Optional packages may be absent. */
const isStale = () => {
  if (!existsSync(installed)) return true
  const wanted = JSON.parse(readFileSync(lockFile, "utf8")).packages
  const have = JSON.parse(readFileSync(installed, "utf8")).packages
  return Object.entries(wanted).some(([path, pkg]) =>
    path.includes("node_modules/") && !pkg.optional && !pkg.peer &&
    (have[path] === undefined || have[path].version !== pkg.version))
}

/** Whether the process that took the lock still runs. A lock with no pid yet counts for ten seconds. */
const isLockHeld = () => {
  try {
    const pid = Number(readFileSync(join(lock, "pid"), "utf8"))
    process.kill(pid, 0)
    return true
  } catch (error) {
    if (error.code === "EPERM") return true
    if (error.code === "ESRCH") return false
    try {
      return Date.now() - statSync(lock).mtimeMs < 10_000
    } catch {
      return false
    }
  }
}

/** Takes the lock, waiting for another installation to end. Two `npm ci` at once would delete each other's files. */
const takeLock = () => {
  for (let waited = false;;) {
    try {
      mkdirSync(lock)
      writeFileSync(join(lock, "pid"), String(process.pid))
      return
    } catch (error) {
      if (error.code !== "EEXIST") throw error
      if (!isLockHeld()) rmSync(lock, { recursive: true, force: true })
      else if (!waited) {
        console.error("Waiting for another installation to end ...")
        waited = true
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
}

/** Runs `npm ci`, unless another call did so while this one waited. The answer is why it failed, if it did. */
const install = () => {
  takeLock()
  try {
    if (!isStale()) return undefined
    console.error("Installing dependencies (once) ...")
    const { status, error } = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: root,
      stdio: ["ignore", 2, 2],
      env: { ...process.env, PATH: systemPath() }
    })
    if (error !== undefined) return `npm could not be started: ${error.message}.`
    return status === 0 ? undefined : "npm ci failed: see above."
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Ends with what to do about it when neither the pinned Node nor the one that runs this can run the sources. */
const chooseNode = () => {
  if (existsSync(pinnedNode)) return pinnedNode
  const wanted = minimumNode.join(".")
  if (isOwnNodeEnough()) {
    console.error(`No pinned Node for this machine: using Node ${process.versions.node}.`)
    return process.execPath
  }
  return fail(1, [
    `This needs Node ${wanted} or later; this is Node ${process.versions.node}, and the pinned Node is not installed.`,
    "Its binary is fetched by an install script. Where npm is told to ignore scripts, allow this one:",
    "  npm rebuild node --ignore-scripts=false --foreground-scripts",
    `or put Node ${wanted} or later first on the PATH.`
  ].join("\n"))
}

const exitCode = (code, signal) => code ?? 128 + (constants.signals[signal] ?? 0)

/** Starts the command, passes signals on to it, and ends as it ends. */
const run = (node, target, args) => {
  const isScript = /\.(ts|mjs)$/.test(target)
  const command = isScript ? node : join(bin, target)
  if (!isScript && !existsSync(command)) fail(127, `No tool named ${target} in node_modules/.bin.`)
  const child = spawn(command, isScript ? ["--conditions=@effect-mcp-tasks/source", target, ...args] : args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` }
  })
  // Ctrl-C in a terminal reaches the whole process group: passed on, the child would see it twice.
  process.on("SIGINT", () => process.stdin.isTTY ? undefined : child.kill("SIGINT"))
  for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => child.kill(signal))
  child.on("error", (error) => fail(127, `${target} could not be started: ${error.message}`))
  child.on("exit", (code, signal) => process.exit(exitCode(code, signal)))
}

const [target, ...args] = process.argv.slice(2)
if (target === undefined) fail(2, "Usage: node scripts/run.mjs <script.ts | tool> [arguments]")
const failure = isStale() ? install() : undefined
if (failure !== undefined) fail(1, `${failure} Nothing was started.`)
run(chooseNode(), target, args)
