import { defineConfig } from "vitest/config"

const conditions = ["@effect-mcp-tasks/source"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    execArgv: ["--conditions=@effect-mcp-tasks/source"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2
  }
})
