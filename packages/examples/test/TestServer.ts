/**
 * Tools served over real HTTP within the test's process, on the test's clock.
 */
import { Embedded, TaskOwner, type TaskStore, type TaskTools } from "@effect-mcp-tasks/engine"
import { Dispatcher, HttpTransport } from "@effect-mcp-tasks/server"
import { NodeHttpServer } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Layer, type Schema, Scope } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { DemoClient } from "../src/DemoClient.ts"

/** A server for as long as the test, or until it is stopped in good order. */
export interface TestServer {
  readonly client: (capabilities?: Schema.JsonObject) => DemoClient
  readonly url: string
  readonly stop: Effect.Effect<void>
}

/** Serves tools on a free port. */
export const start = Effect.fnUntraced(function*<E>(
  tools: Layer.Layer<TaskTools.TaskTools>,
  store: Layer.Layer<TaskStore.TaskStore, E>
) {
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const context = yield* Layer.buildWithScope(
    Layer.fresh(
      HttpRouter.serve(HttpTransport.layer(), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(Dispatcher.layer({ name: "test", version: "0" })),
        Layer.provide(Embedded.layer),
        Layer.provide(tools),
        Layer.provide(store),
        Layer.provide(TaskOwner.layerAnonymous),
        Layer.provideMerge(NodeHttpServer.layer(createServer, {
          host: "127.0.0.1",
          port: 0,
          disablePreemptiveShutdown: true
        }))
      )
    ),
    scope
  )
  const url = `${HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)}/mcp`
  const server: TestServer = {
    client: (capabilities) => new DemoClient(url, capabilities),
    url,
    stop: Scope.close(scope, Exit.void)
  }
  return server
})

/** What a result may hold, for whoever knows which one it is. */
export interface Seen {
  readonly resultType: string
  readonly taskId: string
  readonly status: string
  readonly statusMessage: string
  readonly requestState: string
  readonly inputRequests: Readonly<Record<string, Question>>
  readonly result: Pick<Seen, "content" | "isError" | "structuredContent">
  readonly error: unknown
  readonly content: ReadonlyArray<{ readonly text: string }>
  readonly isError: boolean | undefined
  readonly structuredContent: Readonly<Record<string, unknown>>
}

interface Question {
  readonly params: { readonly requestedSchema: { readonly properties: Readonly<Record<string, Schema.JsonObject>> } }
}

/** The result that a call must have had. */
export const result = Effect.fnUntraced(function*(call: ReturnType<DemoClient["getTask"]>) {
  const answer = yield* call
  assert(answer.result !== undefined, JSON.stringify(answer))
  return answer.result as unknown as Seen
})

/** The error that a call must have had. */
export const error = Effect.fnUntraced(function*(call: ReturnType<DemoClient["getTask"]>) {
  const answer = yield* call
  assert(answer.error !== undefined, JSON.stringify(answer))
  return answer.error
})

/** Calls a tool, which must answer with a task, and gives back its id. */
export const create = Effect.fnUntraced(function*(client: DemoClient, tool: string, args: Schema.JsonObject) {
  const task = yield* result(client.callTool(tool, args))
  assert.strictEqual(task.resultType, "task")
  return task.taskId
})

/** Polls until the task no longer works, while time passes for the server. */
export const settled = Effect.fnUntraced(function*(client: DemoClient, taskId: string) {
  for (let polls = 0; polls < 100; polls++) {
    const task = yield* result(client.getTask(taskId))
    if (task.status !== "working") return task
    yield* TestClock.adjust("100 millis")
  }
  return assert.fail(`Task ${taskId} still works after 10 seconds`)
})

/** What `client` needs to send requests. */
export const http = Effect.provide(FetchHttpClient.layer)
