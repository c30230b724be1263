/**
 * `npm run --silent start:stdio`: serves the example tools on the standard streams, as a desktop host starts a server.
 *
 * Takes the SQLite file that keeps the tasks as its argument. Ends with exit code 0 when its input ends.
 *
 * @since 0.1.0
 */
import { TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { StdioTransport, TaskServer } from "@effect-mcp-tasks/server"
import { SqliteClient } from "@effect-mcp-tasks/sqlite"
import { NodeRuntime, NodeStdio } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import * as Reports from "./Reports.ts"
import * as Tools from "./tools.ts"

// Only messages may be on the standard output: what a library prints goes where log messages go.
console.log = console.info = console.debug = console.error

const [, , filename = ".data/stdio.sqlite"] = process.argv
mkdirSync(dirname(filename), { recursive: true })

TaskServer.layerStdio({ name: "effect-mcp-tasks-example", version: "0.1.0", toolkit: Tools.Tools }).pipe(
  Layer.provide([Tools.handlers, TaskStore.layerSql, TaskOwner.layerAnonymous]),
  Layer.provide([SqliteClient.layer({ filename, exclusive: true }), Reports.layer]),
  StdioTransport.launch,
  Effect.provide(Layer.merge(NodeStdio.layer, StdioTransport.layerLogger)),
  NodeRuntime.runMain
)
