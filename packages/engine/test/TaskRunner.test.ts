import { suite } from "@effect-mcp-tasks/testing/TaskRunnerTest"
import { embedded, inMemory, onSqlite } from "./FleetLayers.ts"
import * as OutagesTest from "./OutagesTest.ts"

suite("TaskRunner.layerFiber in memory", embedded, {
  lacks: { replicas: "handlers are fibers of the one process that has the store" }
})

for (const [name, fleet] of [["memory", inMemory], ["SQLite", onSqlite]] as const) {
  suite(`TaskRunner.layerQueue on ${name}`, fleet)
  OutagesTest.suite(`an outage of ${name}`, fleet, "test")
}
