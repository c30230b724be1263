/**
 * `subscriptions/listen`: what a caller asked to hear of, until it no longer matters.
 *
 * The acknowledgement comes first. Then comes each granted task as `tasks/get` would show it at that moment, and again
 * with every change that its owner could see, in the order of the changes and none twice. Nothing is kept for a reader
 * that is slow: what it reads next is the task as it is then.
 *
 * Source: basic/patterns/subscriptions; ext-tasks, "Task Status Notifications".
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import type * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import type * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import type * as TaskLimits from "@effect-mcp-tasks/engine/TaskLimits"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import type { TaskView } from "@effect-mcp-tasks/engine/TaskStore"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import type * as Schema from "effect/Schema"
import type { Send } from "../Dispatcher.ts"
import * as ServerMetrics from "../ServerMetrics.ts"
import type { ToolSwitch } from "../ToolSwitch.ts"
import type { Outage } from "./outage.ts"
import { type Failure, refuse } from "./refusals.ts"

/**
 * The method that is served here.
 *
 * @since 0.1.0
 */
export const method = "subscriptions/listen"

/**
 * What subscriptions stand on.
 *
 * @since 0.1.0
 */
export interface ListenServices {
  readonly engine: TaskEngine.TaskEngine["Service"]
  readonly limits: TaskLimits.Limits
  /** What turns tools on and off; none where the list is fixed. */
  readonly toolSwitch: Option.Option<ToolSwitch["Service"]>
  /** Where a store is told of that cannot be read. */
  readonly outage: Outage
}

/**
 * Serves subscriptions.
 *
 * @since 0.1.0
 */
export interface Subscriptions {
  /**
   * Serves one `subscriptions/listen` request until it ends: because every task has ended, time is up, or the server
   * goes away. Then gives the result that says so.
   */
  readonly listen: (
    request: McpRequest.AdmittedRequest,
    send: Send
  ) => Effect.Effect<string, Failure, TaskOwner.CurrentOwner>
  /** Ends every subscription in good order, those to come included. */
  readonly end: Effect.Effect<void>
}

/**
 * Makes the subscriptions of a server.
 *
 * @since 0.1.0
 */
export const make = ({ engine, limits, outage, toolSwitch }: ListenServices): Subscriptions => {
  const ended = Deferred.makeUnsafe<void>()
  const place = places(limits.maxListeners)

  /** Those tasks that are the owner's, in the order in which they were named. */
  const grant = (owner: TaskOwner.TaskOwner, taskIds: Iterable<string>) =>
    Effect.map(
      Effect.forEach(taskIds, (taskId) =>
        engine.view(owner, taskId).pipe(
          Effect.as([taskId]),
          Effect.catchTag("TaskNotFound", () => Effect.succeed([]))
        ), { concurrency: 8 }),
      (granted) => granted.flat()
    )

  const listen = Effect.fnUntraced(function*(
    request: McpRequest.AdmittedRequest,
    send: Send
  ): Effect.fn.Return<string, Failure, TaskOwner.CurrentOwner> {
    const { taskIds, wantsTools } = yield* readFilter(request, limits)
    const owner = yield* TaskOwner.CurrentOwner
    const tell: Send = (message) => Effect.andThen(send(message), Metric.update(ServerMetrics.notifications, 1))
    return yield* Effect.gen(function*() {
      yield* place(TaskOwner.key(owner))
      // First watch, then look: a change in between is seen by the one or by the other.
      const watch = yield* engine.watch(taskIds ?? [])
      const granted = yield* grant(owner, taskIds ?? [])
      const tools = wantsTools && Option.isSome(toolSwitch) ? [yield* toolSwitch.value.changes] : []
      yield* tell(acknowledged(request.id, {
        ...(taskIds === undefined ? {} : { taskIds: granted }),
        ...(tools.length === 0 ? {} : { toolsListChanged: true })
      }))
      const told = Effect.all([
        tellTasks({ engine, outage, owner, id: request.id, send: tell }, granted, watch),
        ...tools.map((changes) => tellTools(request.id, tell, changes))
      ], { concurrency: "unbounded", discard: true })
      yield* Effect.timeoutOption(Effect.raceFirst(told, Deferred.await(ended)), limits.maxListenTime)
      return `{"resultType":"complete"}`
    }).pipe(Effect.scoped)
  })

  return { listen, end: Effect.asVoid(Deferred.succeed(ended, undefined)) }
}

/** Counts the subscriptions of each owner, and gives a place to one more for as long as the scope lives. */
const places = (limit: number) => {
  const taken = new Map<string, number>()
  return (owner: string) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const count = taken.get(owner) ?? 0
        if (count >= limit) {
          return refuse(WireError.internalError(`Too many subscriptions: ${limit} are allowed at a time`))
        }
        taken.set(owner, count + 1)
        return Metric.modify(ServerMetrics.listeners, 1)
      }),
      () =>
        Effect.suspend(() => {
          const count = taken.get(owner) ?? 0
          if (count > 1) taken.set(owner, count - 1)
          else taken.delete(owner)
          return Metric.modify(ServerMetrics.listeners, -1)
        })
    )
}

const invalid = (what: string) => refuse(WireError.invalidParams(`params.notifications${what}`))

/** What a subscription asks for. */
interface Filter {
  /** The ids that it names, each once; `undefined` when it does not ask for tasks. */
  readonly taskIds: ReadonlySet<string> | undefined
  readonly wantsTools: boolean
}

const readFilter = (
  { declaresTasks, params: { notifications } }: McpRequest.AdmittedRequest,
  { maxListenedTasks }: TaskLimits.Limits
): Effect.Effect<Filter, Failure> => {
  if (!JsonRpc.isJsonObject(notifications)) return invalid(" must be an object")
  const { taskIds, toolsListChanged } = notifications
  const wantsTools = toolsListChanged === true
  if (taskIds === undefined) return Effect.succeed({ taskIds, wantsTools })
  if (!declaresTasks) return refuse(WireError.tasksRequired)
  if (!Array.isArray(taskIds) || !taskIds.every(isString)) return invalid(".taskIds must be a list of strings")
  return taskIds.length > maxListenedTasks
    ? invalid(`.taskIds may name at most ${maxListenedTasks} tasks`)
    : Effect.succeed({ taskIds: new Set(taskIds), wantsTools })
}

const isString = (value: Schema.Json): value is string => typeof value === "string"

/**
 * What every message of a subscription says in its `_meta`.
 *
 * @since 0.1.0
 */
export const subscription = (id: JsonRpc.Id) => ({ [McpProtocol.MetaKey.subscriptionId]: id })

const meta = (id: JsonRpc.Id): string => `"_meta":${JSON.stringify(subscription(id))}`

const acknowledged = (id: JsonRpc.Id, notifications: Schema.JsonObject): string =>
  JsonRpc.notification(
    "notifications/subscriptions/acknowledged",
    `{${meta(id)},"notifications":${JSON.stringify(notifications)}}`
  )

interface Listener {
  readonly engine: TaskEngine.TaskEngine["Service"]
  readonly outage: Outage
  readonly owner: TaskOwner.TaskOwner
  readonly id: JsonRpc.Id
  readonly send: Send
}

/** Tells the listener of its tasks until each has ended or is forgotten. */
const tellTasks = Effect.fnUntraced(function*(
  { engine, id, outage, owner, send }: Listener,
  granted: ReadonlyArray<string>,
  watch: TaskEngine.TaskWatch
): Effect.fn.Return<void> {
  /** When each task that may still change was last updated, as far as the listener knows. */
  const known = new Map(granted.map((taskId) => [taskId, -Infinity]))

  const look = (taskId: string) =>
    Effect.catchTags(Effect.asSome(engine.view(owner, taskId)), {
      TaskNotFound: () => Effect.sync(() => known.delete(taskId)).pipe(Effect.as(Option.none<TaskView>())),
      // The task is looked at again with the next heartbeat, so a store that comes back is heard of.
      TaskStoreError: (error) => Effect.as(outage.failed(method, error), Option.none<TaskView>())
    })

  let changed = granted
  while (known.size > 0) {
    for (const taskId of changed) {
      const before = known.get(taskId)
      if (before === undefined) continue
      const seen = yield* look(taskId)
      if (Option.isNone(seen)) continue
      yield* outage.worked(method)
      const { head, live, result } = seen.value
      const updated = lastUpdatedAt(head)
      if (updated > before) {
        const params = TaskWire.notificationParams(head, result ?? undefined, id)
        yield* send(JsonRpc.notification("notifications/tasks", params))
        known.set(taskId, updated)
      }
      if (!live) known.delete(taskId)
    }
    if (known.size > 0) changed = yield* watch.next
  }
})

/** Tells the listener that the list of tools has changed, for as long as it listens. */
const tellTools = (id: JsonRpc.Id, send: Send, changes: PubSub.Subscription<void>): Effect.Effect<void> =>
  Effect.forever(
    Effect.andThen(
      PubSub.take(changes),
      send(JsonRpc.notification("notifications/tools/list_changed", `{${meta(id)}}`))
    )
  )

const updatedMember = `,"lastUpdatedAt":"`

/**
 * The instant in the text of a task, in epoch milliseconds: it moves with every change that can be seen, and never
 * goes back. The member cannot be found within a string: its quotes would be escaped there.
 */
const lastUpdatedAt = (head: string): number => {
  const start = head.indexOf(updatedMember) + updatedMember.length
  return Date.parse(head.slice(start, head.indexOf("\"", start)))
}
