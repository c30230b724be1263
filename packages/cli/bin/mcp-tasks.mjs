#!/usr/bin/env node
// Runs the built program; in the repository, where nothing needs to be built, the sources.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

// An installed package is not two directories below the repository's settings.
const isRepository = existsSync(at("../../../tsconfig.build.json"))

if (isRepository) {
  const args = ["--conditions=@effect-mcp-tasks/source", at("../src/main.ts"), ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { stdio: "inherit" })
  // The terminal sends its signals to both; what is sent to this process alone is passed on.
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
  process.on("SIGINT", () => undefined)
  child.on("close", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)))
} else {
  await import(new URL("../dist/main.js", import.meta.url).href)
}
