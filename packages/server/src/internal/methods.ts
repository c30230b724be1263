/**
 * The methods of the protocol: a request's params in, the JSON text of its result out.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import type * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as DeclaredCapabilities from "@effect-mcp-tasks/engine/DeclaredCapabilities"
import * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import type { TaskRunner } from "@effect-mcp-tasks/engine/TaskRunner"
import type { TaskTools } from "@effect-mcp-tasks/engine/TaskTools"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { ServerInfo } from "../Dispatcher.ts"
import * as callTool from "./callTool.ts"
import type { OwnerRates } from "./ownerRates.ts"
import { type Failure, refuse, taskNotFound } from "./refusals.ts"
import type { SealedState } from "./sealedState.ts"

/**
 * What the methods stand on.
 *
 * @since 0.1.0
 */
export interface Services {
  /** Whether the list of tools is the same for as long as the process runs. */
  readonly hasFixedTools: boolean
  readonly tools: TaskTools["Service"]
  readonly engine: TaskEngine.TaskEngine["Service"]
  readonly runner: TaskRunner["Service"]
  readonly states: SealedState
  readonly rates: OwnerRates
}

/**
 * Serves an admitted request.
 *
 * @since 0.1.0
 */
export type Methods = (request: McpRequest.AdmittedRequest) => Effect.Effect<string, Failure, TaskOwner.CurrentOwner>

/**
 * The methods that exist, as admission sees them.
 *
 * @since 0.1.0
 */
export const table: ReadonlyMap<string, McpRequest.Method> = new Map<string, McpRequest.Method>([
  ["server/discover", { requiresTasks: false }],
  ["tools/list", { requiresTasks: false }],
  ["tools/call", { requiresTasks: false, nameParam: "name" }],
  ["tasks/get", { requiresTasks: true, nameParam: "taskId" }],
  ["tasks/update", { requiresTasks: true, nameParam: "taskId" }],
  ["tasks/cancel", { requiresTasks: true, nameParam: "taskId" }],
  ["subscriptions/listen", { requiresTasks: false }]
])

/**
 * Makes the methods of a server.
 *
 * @since 0.1.0
 */
export const make = (info: ServerInfo, services: Services): Methods => {
  const { engine, hasFixedTools, rates } = services
  const discovered = Effect.succeed(discover(info, services))
  const fixed = list(services.tools)
  const listed = Effect.sync(() => hasFixedTools ? fixed : list(services.tools))
  return (request) => {
    const { method, params } = request
    switch (method) {
      case "tasks/get":
        return Effect.andThen(
          rates.poll,
          withTask(params, (owner, taskId) =>
            Effect.map(engine.view(owner, taskId), ({ head, result }) =>
              TaskWire.getTaskResult(head, result ?? undefined)))
        )
      case "tasks/update":
        return toDo("update")(withTask(params, (owner, taskId) => {
          const { inputResponses } = params
          return JsonRpc.isJsonObject(inputResponses)
            ? Effect.as(engine.answer(owner, taskId, inputResponses), TaskWire.acknowledgement)
            : refuse(WireError.invalidParams("params.inputResponses must be an object"))
        }))
      case "tasks/cancel":
        return toDo("cancel")(
          withTask(params, (owner, taskId) => Effect.as(engine.cancel(owner, taskId), TaskWire.acknowledgement))
        )
      case "tools/call":
        return Effect.provideService(
          callTool.call(services, request),
          DeclaredCapabilities.DeclaredCapabilities,
          request.meta.clientCapabilities
        )
      case "tools/list":
        return params["cursor"] === undefined ? listed : refuse(WireError.invalidParams("params.cursor is not known"))
      case "server/discover":
        return discovered
      default:
        return refuse(WireError.methodNotFound("Method not found"))
    }
  }
}

const withTask = <A>(
  { taskId }: Schema.JsonObject,
  use: (owner: TaskOwner.CurrentOwner["Service"], taskId: string) => Effect.Effect<A, Failure>
): Effect.Effect<A, Failure, TaskOwner.CurrentOwner> =>
  typeof taskId === "string"
    ? Effect.flatMap(TaskOwner.CurrentOwner, (owner) => use(owner, taskId))
    : Effect.fail(new TaskEngine.TaskNotFound())

/** Says of a task that is not there what was to be done with it. */
const toDo = (verb: "update" | "cancel") => <A, R>(use: Effect.Effect<A, Failure, R>): Effect.Effect<A, Failure, R> =>
  Effect.catchTag(use, "TaskNotFound", () => refuse(taskNotFound(verb)))

/** How long clients may keep what does not change while this process runs (MCP, "Caching"). */
const caching = { ttlMs: 60_000, cacheScope: "private" }

const discover = ({ instructions }: ServerInfo, { hasFixedTools, tools }: Services): string => {
  const hasTasks = tools.all.some(({ settings }) => Option.isSome(settings))
  return JSON.stringify({
    resultType: "complete",
    supportedVersions: [McpProtocol.ProtocolVersion],
    capabilities: {
      tools: hasFixedTools ? {} : { listChanged: true },
      ...(hasTasks ? { extensions: { [McpProtocol.TasksExtension]: {} } } : {})
    },
    ...(instructions === undefined ? {} : { instructions }),
    ...caching
  })
}

const list = (tools: Services["tools"]): string =>
  JSON.stringify({ resultType: "complete", tools: tools.all.map(({ definition }) => definition), ...caching })
