import { defineConfig } from "vitest/config"

const conditions = ["@effect-mcp-tasks/source"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    execArgv: ["--conditions=@effect-mcp-tasks/source"],
    // Ends what hangs, and nothing else: many tests start processes, on machines that are busy with others.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2
  }
})
