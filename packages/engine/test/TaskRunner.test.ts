import * as FaultsTest from "./FaultsTest.ts"
import { embedded, inMemory, onSqlite } from "./FleetLayers.ts"
import * as LostStartTest from "./LostStartTest.ts"
import * as ReplicasTest from "./ReplicasTest.ts"
import * as ShutdownTest from "./ShutdownTest.ts"
import * as TaskRunnerTest from "./TaskRunnerTest.ts"

const virtualTime = true

TaskRunnerTest.suite("TaskRunner.layerFiber in memory", embedded, { replicas: false, virtualTime })

for (const [name, layer] of [["memory", inMemory], ["SQLite", onSqlite]] as const) {
  const capabilities = { replicas: true, virtualTime }
  TaskRunnerTest.suite(`TaskRunner.layerQueue on ${name}`, layer, capabilities)
  ReplicasTest.suite(`replicas on ${name}`, layer, capabilities)
  ShutdownTest.suite(`a replica that goes away, on ${name}`, layer, capabilities)
  FaultsTest.suite(`replicas in trouble, on ${name}`, layer, capabilities)
  LostStartTest.suite(`a worker that hears nothing, on ${name}`, layer, capabilities)
}
