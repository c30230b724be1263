/**
 * Calls a server's tools, long ones as if they were short.
 *
 * `call` gives the result, whatever it takes: the server may answer at once, ask first, or make a task, which is then
 * polled, listened to, answered for, and cancelled when its caller is interrupted. Failures that pass are borne;
 * `tools/call` itself is never sent twice.
 *
 * @since 0.1.0
 */
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import type * as TaskObserver from "@effect-mcp-tasks/core/TaskObserver"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as HttpTransport from "./HttpTransport.ts"
import type { InputHandler } from "./InputHandler.ts"
import * as client from "./internal/client.ts"
import * as StdioTransport from "./StdioTransport.ts"
import type {
  InputRefused,
  RequestError,
  TaskClientError,
  TaskExpired,
  TaskHandleStoreError,
  ToolResult
} from "./TaskClientError.ts"
import type { TaskHandle } from "./TaskHandle.ts"
import type { Transport } from "./Transport.ts"

/**
 * What a server says of itself. Self-reported: to show, not to decide by.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerDescription {
  readonly name: string | undefined
  readonly version: string | undefined
  /** How to use the server, for a model to read. */
  readonly instructions: string | undefined
  readonly supportedVersions: ReadonlyArray<string>
  readonly capabilities: Schema.JsonObject
  /** Whether it has the tasks extension. */
  readonly offersTasks: boolean
}

/**
 * How a call is made.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallOptions<out A, out R, out E, out R2> extends ResumeOptions<A, R, E, R2> {
  /**
   * What becomes of the task when the effect is interrupted, or its input handler fails: it is cancelled (`"cancel"`,
   * the default), also when its id is still on its way, or it is left (`"leave"`).
   */
  readonly onInterrupt?: "cancel" | "leave" | undefined
  /** How long the server may take to answer the call, be it with a task; 10 minutes. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * How a task is observed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumeOptions<out A, out R, out E, out R2> {
  /**
   * What the result is decoded by: its structured content, or its one text. Without it, the result is given whole.
   */
  readonly success?: Schema.ConstraintDecoder<A, R> | undefined
  /** Who answers questions. Without it, the server is told that nobody can be asked. */
  readonly onInput?: InputHandler<E, R2> | undefined
}

/**
 * How a task is resumed: `tool` names the tool that it belongs to, whose output schema its result is then held to.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskOptions<out A, out R, out E, out R2> extends ResumeOptions<A, R, E, R2> {
  readonly tool?: string | undefined
}

/**
 * A client of one server.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskClient extends Context.Service<TaskClient, {
  /** What the server says of itself. */
  readonly discover: Effect.Effect<ServerDescription, RequestError>
  /** The definitions of the tools that may be called; those with invalid header annotations are left out. */
  readonly tools: Effect.Effect<ReadonlyArray<Schema.JsonObject>, RequestError>
  /** Calls a tool and waits for its result. */
  readonly call: <A = ToolResult, R = never, E = never, R2 = never>(
    tool: string,
    args?: Schema.JsonObject,
    options?: CallOptions<A, R, E, R2>
  ) => Effect.Effect<A, TaskClientError | E, R | R2>
  /**
   * Calls a tool, and gives a handle as soon as the server has taken the call. The task is observed for as long as the
   * scope is open, and left when it closes.
   */
  readonly start: <A = ToolResult, R = never, E = never, R2 = never>(
    tool: string,
    args?: Schema.JsonObject,
    options?: CallOptions<A, R, E, R2>
  ) => Effect.Effect<TaskHandle<A, E>, TaskClientError | E, R | R2 | Scope.Scope>
  /** Goes on with a task that this or another process has begun, from how the server says it is now. */
  readonly resume: <A = ToolResult, R = never, E = never, R2 = never>(
    taskId: string,
    options?: TaskOptions<A, R, E, R2>
  ) => Effect.Effect<TaskHandle<A, E>, RequestError | TaskExpired | TaskHandleStoreError, R | R2 | Scope.Scope>
  /** The ids of this server's tasks that the handle store remembers as open, the oldest first. */
  readonly open: Effect.Effect<ReadonlyArray<string>, TaskHandleStoreError>
  /** Looks at a task once. */
  readonly get: (taskId: string) => Effect.Effect<TaskView.TaskView, RequestError | TaskExpired>
  /** Sends answers as they are. Keys that are not outstanding are ignored by the server. */
  readonly update: (taskId: string, responses: Schema.JsonObject) => Effect.Effect<void, RequestError>
  /** Asks the server to cancel a task. */
  readonly cancel: (taskId: string) => Effect.Effect<void, RequestError>
  /** Sends any other request of the protocol, once, and answers questions that a server asks first. */
  readonly request: <E = never, R = never>(
    method: string,
    params?: Schema.JsonObject,
    options?: { readonly onInput?: InputHandler<E, R> | undefined }
  ) => Effect.Effect<Schema.JsonObject, RequestError | InputRefused | E, R>
}>()("@effect-mcp-tasks/client/TaskClient") {}

/**
 * Who the client is, and how patient. Every field but the name and the version has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  /** What the server is called towards users and in the handle store; the url, the command, or `server`. */
  readonly server?: string | undefined
  /** How long any request but a call may take; 30 seconds. */
  readonly requestTimeout?: Duration.Input | undefined
  /** How long failures that pass are borne, from the first on; 2 minutes. Not for `tools/call`. */
  readonly retryFor?: Duration.Input | undefined
  /**
   * How long failures that pass are borne of a server that has never answered this client yet. Without it that is 5
   * seconds for what comes before a call, since a server that is not there is better told of soon, and `retryFor` for
   * a task that is looked for by its id.
   */
  readonly firstContact?: Duration.Input | undefined
  /** How long an interrupted call waits for the id of a task to cancel, and then for the cancel; 3 seconds. */
  readonly cancelGrace?: Duration.Input | undefined
  /** Whether to listen for notifications where the server has them; true. */
  readonly listen?: boolean | undefined
  /** Bounds on polling, and on what counts as stuck or expired. */
  readonly limits?: Partial<TaskObserver.Limits> | undefined
}

/**
 * A client over the transport that is provided. It remembers open tasks where a `TaskHandleStore` is provided too.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<TaskClient, never, Transport> =>
  Layer.effect(TaskClient, client.make(options))

/**
 * A client of a server that is reached over HTTP.
 *
 * **Example** (A client)
 *
 * ```ts
 * TaskClient.layerHttp({ name: "my-app", version: "1.0.0", url: "http://127.0.0.1:3334/mcp" }).pipe(
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (
  options: Options & HttpTransport.HttpOptions
): Layer.Layer<TaskClient, never, HttpClient.HttpClient> =>
  Layer.provide(
    layer({ ...options, server: options.server ?? HttpTransport.nameOf(options.url) }),
    HttpTransport.layer(options)
  )

/**
 * A client of a server that is a process of its own, started when it is first needed and ended with the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = (
  options: Options & StdioTransport.StdioOptions
): Layer.Layer<TaskClient, never, ChildProcessSpawner.ChildProcessSpawner> =>
  Layer.provide(
    layer({ ...options, server: options.server ?? StdioTransport.nameOf(options.command) }),
    StdioTransport.layer(options)
  )
