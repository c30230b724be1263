/**
 * Proves that what would be published works: builds the public packages afresh, packs them, installs the tarballs
 * with `effect` into an empty project outside the repository, and there imports every entry point with plain Node
 * and compiles a program that imports them all. Exit code 1 when anything of that fails.
 *
 *   npm run pack             checks only
 *   npm run pack -- DIR      leaves the tarballs in DIR as well, from the root of the repository where it is relative
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, normalize, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, "node_modules", ".bin")

/** A package that is published. */
interface Public {
  readonly name: string
  readonly version: string
  readonly directory: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly bin: Readonly<Record<string, string>>
}

const run = (command: string, args: ReadonlyArray<string>, cwd: string) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, { cwd, encoding: "utf8" })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`)
  return stdout
}

const readJson = (file: string) => JSON.parse(fs.readFileSync(file, "utf8"))

const publicPackages = (): ReadonlyArray<Public> =>
  fs.readdirSync(join(root, "packages")).toSorted().map((it) => join(root, "packages", it)).flatMap((directory) => {
    const { bin: programs = {}, exports, name, private: isPrivate, version } = readJson(join(directory, "package.json"))
    return isPrivate === true ? [] : [{ name, version, directory, exports, bin: programs }]
  })

/** The specifiers a user can import: those that the exports map names, and each module that it leaves open. */
const entryPoints = ({ directory, exports, name }: Public): ReadonlyArray<string> => {
  const modules = fs.globSync("**/*.js", { cwd: join(directory, "dist") }).map((file) => file.replace(/\.js$/, ""))
  const open = modules.filter((it) => it !== "index" && !it.startsWith("internal/")).toSorted()
  return Object.entries(exports).flatMap(([key, to]) => {
    if (to === null || key === "./package.json") return []
    return key === "./*" ? open.map((it) => `${name}/${it}`) : [key === "." ? name : `${name}/${key.slice(2)}`]
  })
}

/** What must stay out of a package, and what must be in it. */
const checkContents = ({ bin: programs, exports, name }: Public, files: ReadonlyArray<string>) => {
  const index = "." in exports ? ["dist/index.js", "dist/index.d.ts"] : []
  const started = Object.values(programs).map((file) => normalize(file))
  const needed = ["LICENSE", "README.md", "package.json", ...index, ...started]
  const missing = needed.filter((it) => !files.includes(it))
  const stray = files.filter((it) => /(^|\/)(test|node_modules|\.tsbuildinfo)/.test(it))
  if (missing.length > 0) throw new Error(`${name} lacks ${missing.join(", ")}`)
  if (stray.length > 0) throw new Error(`${name} ships ${stray.join(", ")}`)
}

const pack = (pkg: Public, into: string): string => {
  const output = run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", into], pkg.directory)
  const [packed] = JSON.parse(output)
  checkContents(pkg, packed.files.map((file: { readonly path: string }) => file.path))
  return join(into, packed.filename)
}

const install = (project: string, tarballs: ReadonlyArray<string>) => {
  const { devDependencies } = readJson(join(root, "package.json"))
  fs.writeFileSync(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  run("npm", [
    "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error",
    `effect@${devDependencies.effect}`, `@types/node@${devDependencies["@types/node"]}`, ...tarballs
  ], project)
}

/** Modules of `@effect-mcp-tasks/testing` that need vitest. All others must load without it. */
const suites = ["TaskRunnerTest", "TaskSignalTest", "TaskStoreTest"].map((it) => `@effect-mcp-tasks/testing/${it}`)

const installVitest = (project: string) => {
  const { devDependencies } = readJson(join(root, "package.json"))
  const wanted = ["@effect/vitest", "vitest", "vite"].map((it) => `${it}@${devDependencies[it]}`)
  run("npm", [
    "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", ...wanted
  ], project)
}

const importAll = (project: string, entries: ReadonlyArray<string>) => {
  const program = entries.map((it) => `await import(${JSON.stringify(it)})`).join("\n")
  fs.writeFileSync(join(project, "import.mjs"), `${program}\n`)
  run(join(bin, "node"), ["import.mjs"], project)
}

/** Modules that are not for users must not be importable. */
const importClosed = (project: string, packages: ReadonlyArray<Public>) => {
  const closed = packages.flatMap(({ name }) => [`${name}/index`, `${name}/internal/x`]).map((it) => JSON.stringify(it))
  const attempts = closed.map((it) =>
    `await import(${it}).then(() => { throw new Error(${it} + " is open") }, ({ code }) => {
  if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw new Error(${it} + " fails with " + code) })`
  )
  fs.writeFileSync(join(project, "closed.mjs"), `${attempts.join("\n")}\n`)
  run(join(bin, "node"), ["closed.mjs"], project)
}

/** Each program must start where it is installed. */
const runAll = (project: string, packages: ReadonlyArray<Public>) => {
  for (const { bin: programs, version } of packages) {
    for (const name of Object.keys(programs)) {
      const said = run(join(bin, "node"), [join(project, "node_modules", ".bin", name), "--version"], project)
      if (!said.includes(version)) throw new Error(`${name} --version says ${said.trim()} instead of ${version}`)
    }
  }
}

const compileAll = (project: string, entries: ReadonlyArray<string>) => {
  const lines = entries.map((it, i) => `export * as entry${i} from ${JSON.stringify(it)}`)
  fs.writeFileSync(join(project, "consumer.ts"), `${lines.join("\n")}\n`)
  run(join(bin, "tsc"), [
    "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "esnext", "--module", "nodenext", "--types",
    "node", "--skipLibCheck", "consumer.ts"
  ], project)
}

const main = (directory: string | undefined) => {
  const keep = directory === undefined ? undefined : resolve(root, directory)
  // First, so that nobody waits a minute to hear that it cannot be made.
  if (keep !== undefined) fs.mkdirSync(keep, { recursive: true })
  const packages = publicPackages()
  for (const { directory } of packages) fs.rmSync(join(directory, "dist"), { recursive: true, force: true })
  run(join(bin, "tsc"), ["-b", "tsconfig.build.json"], root)
  const project = fs.mkdtempSync(join(tmpdir(), "pack-"))
  const tarballs = packages.map((pkg) => pack(pkg, project))
  const entries = packages.flatMap(entryPoints)
  install(project, tarballs)
  importAll(project, entries.filter((it) => !suites.includes(it)))
  installVitest(project)
  importAll(project, suites)
  importClosed(project, packages)
  runAll(project, packages)
  compileAll(project, entries)
  if (keep !== undefined) for (const file of tarballs) fs.copyFileSync(file, join(keep, basename(file)))
  fs.rmSync(project, { recursive: true, force: true })
  console.log(`pack: ${packages.length} packages, ${entries.length} entry points import and compile`)
}

main(process.argv[2])
