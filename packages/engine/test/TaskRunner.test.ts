import { suite } from "@effect-mcp-tasks/testing/TaskRunnerTest"
import { embedded, inMemory, onSqlite } from "./FleetLayers.ts"

suite("TaskRunner.layerFiber in memory", embedded, {
  lacks: { replicas: "handlers are fibers of the one process that has the store" }
})

suite("TaskRunner.layerQueue on memory", inMemory)

suite("TaskRunner.layerQueue on SQLite", onSqlite)
