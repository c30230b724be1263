// Runs a script of this repository from a clone in any state: it installs what is missing first, then uses
// the Node that the repository pins rather than the one that happens to be on the PATH. Plain JavaScript for
// old Nodes: nothing is installed yet when it starts.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, "node_modules", ".bin")
const installed = join(root, "node_modules", ".package-lock.json")

/** What the lock file asks for and what npm says it installed differ by more than optional, foreign-platform packages. */
const isStale = () => {
  if (!existsSync(installed) || !existsSync(join(bin, "node"))) return true
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages
  const have = JSON.parse(readFileSync(installed, "utf8")).packages
  return Object.entries(wanted).some(([path, pkg]) =>
    path !== "" && !pkg.optional && !pkg.peer && (have[path] === undefined || have[path].version !== pkg.version))
}

if (isStale()) {
  console.error("Installing dependencies (once) ...")
  const npm = process.env.npm_execpath
  const [command, args] = npm === undefined ? ["npm", []] : [process.execPath, [npm]]
  const install = spawnSync(command, [...args, "ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"]
  })
  if (install.status !== 0) {
    console.error("npm ci failed: see above. Nothing was started.")
    process.exit(install.status ?? 1)
  }
}

const [target, ...args] = process.argv.slice(2)
const condition = "--conditions=@effect-mcp-tasks/source"
const isScript = /\.(ts|mjs)$/.test(target)
const child = spawn(join(bin, isScript ? "node" : target), isScript ? [condition, target, ...args] : args, {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PATH: `${bin}:${process.env.PATH}` }
})
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)))
