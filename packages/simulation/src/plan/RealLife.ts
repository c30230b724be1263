/**
 * The lives of a plan, lived for real: a tool that works, reports, asks and ends as a life says, and clients that call,
 * leave, come back and give up as it says. Server, engine and client are those of the packages.
 *
 * Tests live them on the test clock; `npm run plan:check` does over HTTP and in real time.
 *
 * @since 0.2.0
 */
import * as InputHandler from "@effect-mcp-tasks/client/InputHandler"
import type * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type { Life } from "./Life.ts"
import type { Settings } from "./Settings.ts"

const Parameters = Schema.Struct({
  workMs: Schema.Natural,
  askAfterMs: Schema.optionalKey(Schema.Natural),
  reportEveryMs: Schema.optionalKey(Schema.Natural),
  fails: Schema.Boolean
})

/**
 * The toolkit of one tool that lives as it is told, under the times of the settings.
 *
 * @since 0.2.0
 */
export const toolkit = ({ pollMs, resultTtlMs, ttlMs }: Settings) =>
  Toolkit.make(
    Tool.make("work", {
      parameters: Parameters,
      success: TaskTool.ToolResult,
      failure: TaskTool.ProtocolError
    }).annotate(TaskTool.Policy, {
      ttl: ttlMs,
      resultTtl: resultTtlMs,
      pollInterval: pollMs,
      recovery: "resume"
    })
  )

/**
 * The handler of the tool.
 *
 * @since 0.2.0
 */
export const work = Effect.fnUntraced(function*({ askAfterMs, fails, reportEveryMs, workMs }: typeof Parameters.Type) {
  const task = yield* CurrentTask.CurrentTask
  const begun = yield* Clock.currentTimeMillis
  /** Time that was spent waiting for the user, which is no work. */
  let waited = 0
  const workUntil = Effect.fnUntraced(function*(doneMs: number) {
    const now = yield* Clock.currentTimeMillis
    yield* Effect.sleep(Math.max(0, begun + waited + doneMs - now))
  })
  const askAt = askAfterMs ?? workMs
  const everyMs = reportEveryMs ?? Number.POSITIVE_INFINITY
  let reports = 0
  const reportUntil = Effect.fnUntraced(function*(doneMs: number) {
    for (; (reports + 1) * everyMs < doneMs; reports++) {
      yield* workUntil((reports + 1) * everyMs)
      yield* task.report(`report ${reports + 1}`)
    }
    yield* workUntil(doneMs)
  })
  yield* reportUntil(askAt)
  if (askAfterMs !== undefined) {
    const asked = yield* Clock.currentTimeMillis
    yield* Effect.orDie(task.elicit("question", { message: "Go on?", schema: Schema.Struct({}) }))
    waited = (yield* Clock.currentTimeMillis) - asked
    yield* reportUntil(workMs)
  }
  if (fails) return yield* new TaskTool.ProtocolError({ code: -32603, message: "It did not work" })
  const result: TaskTool.ToolResult = { content: [] }
  return result
})

type Client = TaskClient.TaskClient["Service"]

const args = ({ asks, fails, workMs }: Life, { reportEveryMs }: Settings): Schema.JsonObject => ({
  workMs,
  fails,
  ...(asks === undefined ? {} : { askAfterMs: asks.afterMs }),
  ...(reportEveryMs === undefined ? {} : { reportEveryMs })
})

const user = ({ asks }: Life) =>
  InputHandler.make({
    elicit: () =>
      Effect.as(Effect.sleep(asks?.answerAfterMs ?? 0), { action: "accept", content: {} } satisfies Schema.JsonObject)
  })

const goAway = Effect.fnUntraced(function*(client: Client, life: Life, settings: Settings, awayMs: number) {
  const options = { onInput: user(life) }
  const id = yield* Effect.scoped(Effect.map(client.start("work", args(life, settings), options), ({ id }) => id))
  yield* Effect.sleep(awayMs)
  if (Option.isNone(id)) return yield* Effect.die("The call was answered without a task")
  return yield* Effect.scoped(
    Effect.flatMap(client.resume(id.value, { ...options, tool: "work" }), (handle) => handle.await)
  )
})

/**
 * Lives the client's side of a life, and says how it ended: `completed`, or the tag of the error, or `cancelled` for
 * a user who gave it up.
 *
 * @since 0.2.0
 */
export const live = (client: Client, life: Life, settings: Settings): Effect.Effect<string> =>
  Effect.gen(function*() {
    if (life.returnsAfterMs !== undefined) {
      yield* goAway(client, life, settings, life.returnsAfterMs)
      return "completed"
    }
    const calling = client.call("work", args(life, settings), { onInput: user(life) })
    if (life.cancelAfterMs === undefined) {
      yield* calling
      return "completed"
    }
    const fiber = yield* Effect.forkChild(calling, { startImmediately: true })
    const ended = yield* Effect.timeoutOption(Fiber.join(fiber), life.cancelAfterMs)
    if (Option.isSome(ended)) return "completed"
    yield* Fiber.interrupt(fiber)
    return "cancelled"
  }).pipe(Effect.catch((error) => Effect.succeed(error._tag)))
