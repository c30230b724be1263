#!/usr/bin/env node
// Runs the built program; in the repository, where nothing needs to be built, the sources.
import { existsSync } from "node:fs"
import { registerHooks } from "node:module"

const at = (path) => new URL(path, import.meta.url)

// An installed package is not two directories below the repository's settings.
const isRepository = existsSync(at("../../../tsconfig.build.json"))

// In this process: one that is started for it would have to be passed every signal that is sent to this one alone.
if (isRepository) {
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, "@effect-mcp-tasks/source"] })
  })
}

await import(at(isRepository ? "../src/main.ts" : "../dist/main.js").href)
