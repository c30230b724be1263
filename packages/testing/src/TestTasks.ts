/**
 * A whole server and its client in memory, on the test's clock: a tool that runs for hours is tested in milliseconds,
 * questions, restarts and all.
 *
 * Nothing in it is a stand-in but the transport and the clock: requests are the text of the protocol, and they go
 * through the real dispatcher, engine, runner and sweeper to the store that is provided. Whoever waits for a task lets
 * the test's clock go on to the next moment at which something in the server wakes, and looks again. What is real, such
 * as a file that a handler reads, is waited for before time goes on.
 *
 * @since 0.1.0
 */
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import type * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskSweeper from "@effect-mcp-tasks/engine/TaskSweeper"
import type { TaskTools } from "@effect-mcp-tasks/engine/TaskTools"
import * as Dispatcher from "@effect-mcp-tasks/server/Dispatcher"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as FaultyStore from "./FaultyStore.ts"
import * as alarmClock from "./internal/alarmClock.ts"
import * as aside from "./internal/aside.ts"
import { NeverReached, NotAsked } from "./internal/disappointment.ts"
import * as handlersAtWork from "./internal/handlersAtWork.ts"
import type { Refused } from "./internal/protocolClient.ts"
import * as protocolClient from "./internal/protocolClient.ts"
import * as realWorld from "./internal/realWorld.ts"
import * as replies from "./internal/replies.ts"
import type { Time } from "./internal/replies.ts"
import * as silence from "./internal/silence.ts"

/**
 * @since 0.1.0
 */
export { Refused } from "./internal/protocolClient.ts"

/**
 * @since 0.2.0
 */
export { NoReply } from "./internal/silence.ts"

/**
 * @since 0.1.0
 */
export { NeverReached } from "./internal/disappointment.ts"

/**
 * @since 0.2.0
 */
export { NotAsked } from "./internal/disappointment.ts"

/**
 * A task that has ended, as its client sees it.
 *
 * @category models
 * @since 0.1.0
 */
export type EndedTask = Extract<TaskWire.DetailedTask, { readonly status: "completed" | "failed" | "cancelled" }>

/**
 * A task from its client's side.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestTask {
  readonly taskId: string
  /** The task as it is now (`tasks/get`). */
  readonly now: Effect.Effect<TaskWire.DetailedTask, Refused>
  /** Lets time pass until the task has a status. Fails when it ends in another one, by its `ttl` at the latest. */
  readonly until: <Status extends Task.TaskStatus>(
    status: Status
  ) => Effect.Effect<Extract<TaskWire.DetailedTask, { readonly status: Status }>, Refused | NeverReached>
  /** Lets time pass until the task has ended, in whichever way. */
  readonly ended: Effect.Effect<EndedTask, Refused>
  /**
   * Answers questions by their keys with whole responses (`tasks/update`).
   *
   * **Details**
   *
   * Looks first whether the task asks under every one of the keys, and fails with `NotAsked` where it does not. No
   * fault of a test is meant for that look. Where a key is to be wrong, or an answer too late, send it:
   *
   * ```ts
   * yield* tasks.send("tasks/update", { taskId: task.taskId, inputResponses: { wrong: { action: "decline" } } })
   * ```
   */
  readonly answer: (inputResponses: Schema.JsonObject) => Effect.Effect<void, Refused | NotAsked>
  /** Answers the form under a key with content, if the task asks under it. */
  readonly accept: (key: string, content: Schema.JsonObject) => Effect.Effect<void, Refused | NotAsked>
  /** Declines the form under a key, if the task asks under it. */
  readonly decline: (key: string) => Effect.Effect<void, Refused | NotAsked>
  /** Asks the task to stop (`tasks/cancel`). */
  readonly cancel: Effect.Effect<void, Refused>
}

/**
 * A client of a server that runs in the test.
 *
 * **Details**
 *
 * Every request ends. One whose reply is late lets time pass until it comes, however long its tool takes. One that will
 * have no reply, since its process has crashed or its store was told to drop it, dies with `NoReply`, which names the
 * fault; so does one that has none after a thousand turns of the clock in which no handler was at work.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestClient {
  /** Calls a tool as a client that takes tasks and can be asked. Fails when the answer is not a task. */
  readonly call: (tool: string, args: Schema.JsonObject) => Effect.Effect<TestTask, Refused | NeverReached>
  /**
   * Calls a tool as a client that knows no tasks and cannot be asked; gives back the `CallToolResult`.
   *
   * **Details**
   *
   * A tool that asks all the same, and does not catch `InputUnavailable`, is `Refused` with -32021.
   *
   * **Gotchas**
   *
   * Lets no time pass. Where the tool sleeps, fork it and adjust the clock: it dies with `NoReply` where the clock has
   * stood still for two seconds.
   */
  readonly direct: (tool: string, args: Schema.JsonObject) => Effect.Effect<Schema.JsonObject, Refused>
  /** Sends any request; gives back its result. */
  readonly send: (method: string, params: Schema.JsonObject) => Effect.Effect<Schema.JsonObject, Refused>
  /** Takes up again a task that this client knows the id of, as after a restart of the client. */
  readonly task: (taskId: string) => TestTask
  /** The same server for another caller; `TaskOwner.anonymous` is the first one. */
  readonly as: (owner: TaskOwner.TaskOwner) => TestClient
  /**
   * Ends the server's process and starts it again on the same store: `crash` as with SIGKILL, so that running handlers
   * neither end nor hand back, `shutdown` in good order.
   */
  readonly restart: (how: "crash" | "shutdown") => Effect.Effect<void>
}

/**
 * A server in memory, by its client.
 *
 * @category services
 * @since 0.1.0
 */
export class TestTasks extends Context.Service<TestTasks, TestClient>()("@effect-mcp-tasks/testing/TestTasks") {}

interface Process {
  readonly handle: Dispatcher.Dispatcher["Service"]["handle"]
  readonly shutdown: Effect.Effect<void>
  readonly crash: Effect.Effect<void>
  readonly hasCrashed: Effect.Effect<boolean>
  readonly isAtWork: () => boolean
}

/** `Embedded.layer` with a sweeper that rests longer: each time it wakes, a test that waits for hours wakes too. */
const engine = Layer.merge(TaskRunner.layerFiber, TaskSweeper.layerWith({ interval: "1 minute" })).pipe(
  Layer.provideMerge(TaskEngine.layer),
  Layer.provide([TaskSignal.layerMemory, SecureRandom.layerWebCrypto])
)

/** Starts a process over a store that outlives it. */
const start = Effect.fnUntraced(function*<E, R>(tools: Layer.Layer<TaskTools, E, R>) {
  const store = yield* TaskStore.TaskStore
  const faults = yield* Effect.serviceOption(FaultyStore.FaultyStore)
  let isDead = false
  const gated = FaultyStore.around(store, (_call, effect) =>
    Effect.suspend(() => isDead ? silence.keep("its process has gone, by restart(\"crash\")") : effect))
  const handlers = handlersAtWork.make(yield* Clock.Clock)
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(
    Layer.fresh(
      Dispatcher.layer({ name: "test", version: "0" }).pipe(
        Layer.provide(engine),
        Layer.provide(handlers.watch(tools)),
        Layer.provide(Layer.succeed(TaskStore.TaskStore, gated))
      )
    ),
    scope
  )
  const dies = Effect.sync(() => {
    isDead = true
  })
  const started: Process = {
    handle: Context.get(context, Dispatcher.Dispatcher).handle,
    shutdown: Scope.close(scope, Exit.void),
    crash: Option.isSome(faults) ? Effect.andThen(dies, faults.value.restart) : dies,
    hasCrashed: Option.isSome(faults) ? faults.value.hasCrashed : Effect.succeed(false),
    isAtWork: handlers.isAny
  }
  return started
})

const everything: Schema.JsonObject = { elicitation: { form: {} }, extensions: { [McpProtocol.TasksExtension]: {} } }

const decodeCreated = Schema.decodeUnknownOption(TaskWire.CreateTaskResult)
const decodeTask = Schema.decodeUnknownEffect(TaskWire.DetailedTask)

const hasEnded = (task: TaskWire.DetailedTask): task is EndedTask =>
  task.status !== "working" && task.status !== "input_required"

/** How a client of a task sends what. */
interface Sending {
  readonly send: protocolClient.Send
  /** Looks, before something else is sent. */
  readonly look: protocolClient.Send
  readonly time: Time
}

const makeTask = (taskId: string, { look, send, time }: Sending): TestTask => {
  const seen = (send: protocolClient.Send) =>
    Effect.flatMap(send("tasks/get", { taskId }), (result) => Effect.orDie(decodeTask(result)))
  const now = seen(send)
  const answer = Effect.fnUntraced(function*(inputResponses: Schema.JsonObject) {
    const task = yield* seen(look)
    const asked = task.status === "input_required" ? Object.keys(task.inputRequests) : []
    const key = Object.keys(inputResponses).find((key) => !asked.includes(key))
    if (key !== undefined) return yield* new NotAsked({ key, status: task.status, asked })
    yield* send("tasks/update", { taskId, inputResponses })
  })
  /** Polls until the task is as wanted; time goes on between two polls. */
  const when = <A extends TaskWire.DetailedTask>(isWanted: (task: TaskWire.DetailedTask) => task is A) =>
    Effect.gen(function*() {
      while (true) {
        const task = yield* now
        if (isWanted(task)) return task
        if (!(yield* time.settled)) yield* time.goOn
      }
    })
  return {
    taskId,
    now,
    ended: when(hasEnded),
    until: <Status extends Task.TaskStatus>(status: Status) => {
      type Wanted = Extract<TaskWire.DetailedTask, { readonly status: Status }>
      const isWanted = (task: TaskWire.DetailedTask): task is Wanted => task.status === status
      return Effect.flatMap(
        when((task): task is Wanted | EndedTask => isWanted(task) || hasEnded(task)),
        (task) =>
          isWanted(task)
            ? Effect.succeed(task)
            : Effect.fail(
              new NeverReached({ wanted: status, seen: { ...task }, hasOverrun: time.hasOverrun() })
            )
      )
    },
    answer,
    accept: (key, content) => answer({ [key]: { action: "accept", content } }),
    decline: (key) => answer({ [key]: { action: "decline" } }),
    cancel: Effect.asVoid(send("tasks/cancel", { taskId }))
  }
}

const isGone = "The process has crashed, and cannot end in good order: start another one by restart(\"crash\")"

const noTestClock = "TestTasks needs the test clock: run the test by it.effect of @effect/vitest, not it.live, or " +
  "provide TestClock.layer() of effect/testing"

/** The clock of the test, or death in words where time passes by itself. */
const testClock = Effect.flatMap(Clock.Clock, (clock) =>
  "adjust" in clock ? Effect.succeed(clock) : Effect.die(new Error(noTestClock)))

/**
 * Serves tools over the store that is provided.
 *
 * **When to use**
 *
 * With `FaultyStore.layer` for a tool that is to survive a store's failures, or with a store of one's own. Where any
 * store will do there is `layerMemory`.
 *
 * **Details**
 *
 * When the layer's scope closes, the server ends in good order.
 *
 * **Gotchas**
 *
 * - Needs the test clock, as `it.effect` of `@effect/vitest` provides it; dies without.
 * - What is real is told by what keeps this process of Node alive. It is waited for two seconds at most, and files for
 *   half a minute: whatever takes longer in a handler sees the clock go on.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  tools: Layer.Layer<TaskTools, E, R>
): Layer.Layer<TestTasks, E | TaskStore.TaskStoreError, R | TaskStore.TaskStore> =>
  Layer.effect(
    TestTasks,
    Effect.gen(function*() {
      const clock = alarmClock.make(yield* testClock)
      const services = Context.add(yield* Effect.context<R | TaskStore.TaskStore>(), Clock.Clock, clock)
      let isAtWork = () => false
      const time: Time = {
        ...yield* realWorld.make,
        isAtWork: () => isAtWork(),
        goOn: Effect.suspend(() => TestClock.adjust(clock.untilNextUnsafe() ?? 0))
      }
      const starting = Effect.provideContext(start(tools), services)
      const begin = Effect.tap(replies.whileTimePasses("start of the server", starting, time), (started) =>
        Effect.sync(() => {
          isAtWork = started.isAtWork
        }))
      const end = (how: "crash" | "shutdown") =>
        replies.whileTimePasses(how, silence.unheard(process[how]), time)
      let process = yield* begin
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(process.hasCrashed, (hasCrashed) => hasCrashed ? process.crash : end("shutdown")))

      const make = (owner: TaskOwner.TaskOwner): TestClient => {
        const handle = (body: string) =>
          Effect.suspend(() => process.handle({ headers: undefined, body })).pipe(
            Effect.flatMap(Dispatcher.finalReply),
            Effect.provideService(TaskOwner.CurrentOwner, owner),
            Effect.provideContext(services)
          )
        const client = (capabilities: Schema.JsonObject, wait: protocolClient.Wait) =>
          protocolClient.make(handle, { capabilities, wait })
        const send = client(everything, (method, request) => replies.whileTimePasses(method, request, time))
        const look = client(everything, (_method, request) =>
          replies.whileTimePasses("tasks/update", aside.look(request), time))
        const undeclared = client({}, (method, request) => replies.whileTimeStands(method, request, time))
        const sending = { send, look, time }
        return {
          send,
          call: (name, args) =>
            Effect.flatMap(send("tools/call", { name, arguments: args }), (result) =>
              Option.match(decodeCreated(result), {
                onSome: ({ taskId }) => Effect.succeed(makeTask(taskId, sending)),
                onNone: () => Effect.fail(new NeverReached({ wanted: "a task", seen: result }))
              })),
          direct: (name, args) => undeclared("tools/call", { name, arguments: args }),
          task: (taskId) => makeTask(taskId, sending),
          as: make,
          restart: (how) =>
            Effect.gen(function*() {
              if (how === "shutdown" && (yield* process.hasCrashed)) return yield* Effect.die(new Error(isGone))
              yield* end(how)
              process = yield* Effect.orDie(begin)
            })
        }
      }
      return make(TaskOwner.anonymous)
    })
  )

/**
 * Serves tools over a store in memory.
 *
 * **Example** (A tool that asks, and takes an hour)
 *
 * ```ts
 * it.effect("exports what was confirmed", () =>
 *   Effect.gen(function*() {
 *     const tasks = yield* TestTasks.TestTasks
 *     const task = yield* tasks.call("export", { rows: 3 })
 *     yield* task.until("input_required")
 *     yield* task.accept("confirm", { overwrite: true })
 *     const ended = yield* task.until("completed")
 *     assert.deepStrictEqual(ended.result["structuredContent"], { rows: 3 })
 *   }).pipe(Effect.provide(TestTasks.layerMemory(tools))))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = <E, R>(
  tools: Layer.Layer<TaskTools, E, R>
): Layer.Layer<TestTasks, E | TaskStore.TaskStoreError, R> =>
  Layer.provide(layer(tools), Layer.fresh(TaskStore.layerMemory))
