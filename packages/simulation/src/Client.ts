/**
 * A simulated client that writes its requests itself, and its user: calls tools, polls, answers, cancels, gives up,
 * and tries what is not its own, also what the client library would never send.
 *
 * It sends the protocol's requests through a port, and decides nothing that the port's other side should decide.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Schema from "effect/Schema"
import type { FaultName } from "./Faults.ts"
import type { Answer } from "./clientRules.ts"
import type { Call, ClientPlan, Lack } from "./Scenario.ts"

/**
 * How a client reaches the servers, and whom it tells what it saw.
 *
 * @since 0.1.0
 */
export interface ClientPort {
  /** Sends a request that declares all but what it lacks to one server or another; `undefined` is no answer. */
  readonly send: (method: string, params: Schema.JsonObject, lacks?: Lack) => Effect.Effect<Answer | undefined>
  /** Tells what a poll showed. */
  readonly saw: (taskId: string, task: Schema.JsonObject) => void
  /** The ids of tasks that belong to others. */
  readonly foreign: () => ReadonlyArray<string>
  /** Whether the user does nothing but what the scenario says. */
  readonly isSteady: boolean
  readonly onFault: (name: FaultName) => void
  /** Tells how a call went on. */
  readonly onOutcome: (outcome: string) => void
}

const between = (low: number, high: number) => Random.nextIntBetween(low, high)

const pause = (low: number, high: number) => Effect.flatMap(between(low, high), (ms) => Effect.sleep(ms))

const accept = (word: Schema.Json): Schema.JsonObject => ({ action: "accept", content: { word } })

/** Sends until there is an answer, a few times. */
const insist = Effect.fnUntraced(function*(port: ClientPort, method: string, params: Schema.JsonObject) {
  for (let time = 0; time < 6; time++) {
    const answer = yield* port.send(method, params)
    if (answer !== undefined && !("error" in answer && answer.error.code === -32603)) return answer
    yield* pause(200, 2_000)
  }
  return undefined
})

/** What a user does with a question. */
const reply = Effect.fnUntraced(function*(port: ClientPort, call: Call, taskId: string, key: string) {
  const give = (inputResponses: Schema.JsonObject) => insist(port, "tasks/update", { taskId, inputResponses })
  yield* call.answerAfterMs === undefined ? pause(50, 1_500) : Effect.sleep(call.answerAfterMs)
  switch (call.manner) {
    case "right":
      return yield* give({ [key]: accept(`${key}-word`) })
    case "late":
      port.onFault("user-late")
      yield* pause(10_000, 40_000)
      return yield* give({ [key]: accept(`${key}-late`) })
    case "twice":
      port.onFault("user-twice")
      return yield* Effect.all([give({ [key]: accept("first") }), give({ [key]: accept("second") })], {
        concurrency: 2,
        discard: true
      })
    case "wrong":
      port.onFault("user-wrong")
      yield* give({ [key]: { action: "accept", content: { word: 7, unfit: true } } })
      yield* pause(100, 3_000)
      return yield* give({ [key]: accept(`${key}-mended`) })
    case "unknown":
      port.onFault("user-unknown")
      yield* give({ unknown: accept("nobody asked"), ["__proto__"]: accept("nor this") })
      return yield* give({ [key]: accept(`${key}-known`), unknown: accept("nobody asked") })
    case "declines":
      port.onFault("user-declines")
      return yield* give({ [key]: { action: "decline" } })
    case "never":
      return port.onFault("user-never")
  }
})

const cancelLater = Effect.fnUntraced(function*(port: ClientPort, afterMs: number, taskId: string) {
  yield* Effect.sleep(afterMs)
  port.onFault("user-cancels")
  yield* insist(port, "tasks/cancel", { taskId })
  if (!port.isSteady && (yield* Random.next) < 0.3) {
    port.onFault("user-cancels-twice")
    yield* insist(port, "tasks/cancel", { taskId })
  }
})

/** After the end: the task stays as it ended, whatever is sent. */
const linger = Effect.fnUntraced(function*(port: ClientPort, taskId: string) {
  for (let time = 0; time < 2; time++) {
    yield* pause(100, 4_000)
    if ((yield* Random.next) < 0.3) yield* port.send("tasks/cancel", { taskId })
    if ((yield* Random.next) < 0.3) yield* port.send("tasks/update", { taskId, inputResponses: { a: accept("late") } })
    const answer = yield* port.send("tasks/get", { taskId })
    if (answer !== undefined && "result" in answer) port.saw(taskId, answer.result)
  }
})

const isNotFound = (answer: Answer): boolean => "error" in answer && answer.error.code === -32602

/** Follows a task until it has ended, is forgotten, or nobody wants to know. */
const follow = Effect.fnUntraced(function*(port: ClientPort, call: Call, taskId: string) {
  const asked = new Set<string>()
  let waitedMs = 0
  while (true) {
    if (waitedMs >= (call.giveUpAfterMs ?? Infinity)) {
      port.onFault("user-gives-up")
      return "gave up"
    }
    const ms = yield* between(300, 700)
    waitedMs += ms
    yield* Effect.sleep(ms)
    const answer = yield* port.send("tasks/get", { taskId })
    if (answer === undefined) continue
    if (isNotFound(answer)) return "was forgotten"
    if ("error" in answer) continue
    const { inputRequests, status } = answer.result
    port.saw(taskId, answer.result)
    for (const key of Object.keys(Object(inputRequests))) {
      if (asked.has(key)) continue
      asked.add(key)
      yield* Effect.forkChild(reply(port, call, taskId, key))
    }
    if (status !== "working" && status !== "input_required") {
      if (!port.isSteady) yield* linger(port, taskId)
      return `saw ${String(status)}`
    }
  }
})

/** Tries what only clients with the tasks extension may. */
const trespass = Effect.fnUntraced(function*(port: ClientPort) {
  const [taskId] = port.foreign()
  if (taskId === undefined) return
  yield* port.send("tasks/get", { taskId })
  yield* port.send("tasks/update", { taskId, inputResponses: { a: accept("undeclared") } })
  yield* port.send("tasks/cancel", { taskId })
  yield* port.send("subscriptions/listen", { notifications: { taskIds: [taskId] } })
})

const make = Effect.fnUntraced(function*({ send, ...more }: ClientPort, call: Call) {
  const port: ClientPort = { ...more, send: (method, params) => send(method, params, call.lacks) }
  yield* Effect.sleep(call.atMs)
  const answer = yield* port.send("tools/call", { name: call.tool, arguments: { script: call.script } })
  if (call.lacks === "tasks") yield* trespass(port)
  if (answer === undefined) return port.onOutcome("call unanswered")
  if ("error" in answer) return port.onOutcome("call refused")
  const { resultType, taskId } = answer.result
  if (resultType !== "task" || typeof taskId !== "string") return port.onOutcome("call answered directly")
  if (call.cancelAfterMs !== undefined) yield* Effect.forkChild(cancelLater(port, call.cancelAfterMs, taskId))
  port.onOutcome(yield* follow(port, call, taskId))
})

/** Tries what belongs to others. */
const snoop = Effect.fnUntraced(function*(port: ClientPort) {
  for (let time = 0; time < 8; time++) {
    yield* pause(500, 8_000)
    const [taskId] = yield* Random.shuffle(port.foreign())
    if (taskId === undefined) continue
    port.onFault("user-snoops")
    const method = yield* Random.choice(["tasks/get", "tasks/update", "tasks/cancel"] as const)
    const answer = method === "tasks/update" ? { inputResponses: { a: accept("foreign") } } : {}
    yield* port.send(method, { taskId, ...answer })
  }
})

/**
 * Does everything that a client does. Ends when all its calls have come to an end for it.
 *
 * @since 0.1.0
 */
export const behave = (port: ClientPort, plan: ClientPlan): Effect.Effect<void> =>
  Effect.all([...plan.calls.map((call) => make(port, call)), ...plan.snoops ? [snoop(port)] : []], {
    concurrency: "unbounded",
    discard: true
  })
