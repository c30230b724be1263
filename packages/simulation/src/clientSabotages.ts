/**
 * One-line breaks of what callers of the client library are promised, and servers of their clients.
 *
 * @since 0.2.0
 */
import type { Sabotage } from "./sabotages.ts"

const observer = "core/src/TaskObserver.ts"
const view = "core/src/TaskView.ts"
const calling = "client/src/internal/calling.ts"
const calls = "client/src/internal/calls.ts"
const memory = "client/src/internal/memory.ts"
const observation = "client/src/internal/observation.ts"
const rpc = "client/src/internal/rpc.ts"
const session = "client/src/internal/session.ts"

/**
 * The sabotages of clients.
 *
 * @since 0.2.0
 */
export const clientSabotages: ReadonlyArray<Sabotage> = [
  {
    name: "poll interval ignored",
    rule: "polled-early",
    file: observer,
    was: `pollMsOf(limits, seen.pollIntervalMs, observer.pollMs)`,
    is: `limits.minPollMs`
  },
  {
    name: "poll interval ignored when a poll fails",
    rule: "polled-early",
    file: session,
    was: `      atLeastMs: observer(session).pollMs,
`,
    is: ``
  },
  {
    name: "poll sent again with every notification",
    rule: "polled-early",
    file: observation,
    was: `if (yield* unlessWoken(Fiber.join(poll), task)) poll = undefined`,
    is: `if (!(yield* unlessWoken(Fiber.join(poll), task))) yield* Fiber.interrupt(poll)
    poll = undefined`
  },
  {
    name: "listening without rest",
    rule: "polled-early",
    file: "client/src/internal/listening.ts",
    was: `yield* Effect.sleep(delayMs * (1 + 0.2 * (yield* Random.next)))`,
    is: `yield* Effect.sleep(10)`
  },
  {
    name: "working status taken for an end",
    rule: "outcome-wrong",
    file: observer,
    was: `if (TaskView.isTerminal(view)) return { _tag: "Ended", view }`,
    is: `if (view.status !== "input_required") return { _tag: "Ended", view: { ...view, status: "cancelled" } }`
  },
  {
    name: "failure of a task taken for a cancel",
    rule: "outcome-wrong",
    file: "client/src/internal/outcome.ts",
    was: `return Effect.fail(new TaskFailed({ taskId, error: view.error, ...said }))`,
    is: `return Effect.fail(new TaskCancelled({ taskId, ...said }))`
  },
  {
    name: "lost reply taken for an expired task",
    rule: "outcome-wrong",
    file: session,
    was: `if (error.error.code !== WireError.Code.InvalidParams) return Effect.fail(error)`,
    is: ``
  },
  {
    name: "given up at the first lost reply",
    rule: "given-up-early",
    file: rpc,
    was: `if (!isTransient(error) || now + waitMs > deadline) return yield* error`,
    is: `return yield* error`
  },
  {
    name: "patience by the clock of the day",
    rule: "given-up-early",
    file: rpc,
    was: `Number(yield* Clock.monotonicTimeNanos) / 1e6`,
    is: `yield* Clock.currentTimeMillis`
  },
  {
    name: "cancel sent once",
    rule: "given-up-early",
    file: observation,
    was: `cancel: Effect.asVoid(rpc.repeated(`,
    is: `cancel: Effect.asVoid(rpc.once(`
  },
  {
    name: "tool called again when its answer is lost",
    rule: "call-repeated",
    file: calling,
    was: `Effect.catchTag(attempt(call, added), "ProtocolError", (error) =>`,
    is: `Effect.catchTag(Effect.retry(attempt(call, added), { times: 1 }), "ProtocolError", (error) =>`
  },
  {
    name: "user asked with every view",
    rule: "answered-twice",
    file: observer,
    was: `for (const { key } of questions) keys.set(key, "asked")`,
    is: ``
  },
  {
    name: "another answer sent after the first",
    rule: "answered-twice",
    file: memory,
    was: `return given === undefined || Equal.equals(given, response)`,
    is: `return given === undefined || given !== response`
  },
  {
    name: "answer of an earlier process forgotten",
    rule: "answered-twice",
    file: observation,
    was: `if (remembered?.response !== undefined) return`,
    is: `if (remembered?.isRepeated === true) return`
  },
  {
    name: "user asked on when the question is closed",
    rule: "asked-in-vain",
    file: session,
    was: `if (!outstanding.has(key)) yield*`,
    is: `if (globalThis.never) yield*`
  },
  {
    name: "handle forgotten when what follows fails",
    rule: "handle-forgotten",
    file: "client/src/internal/tasks.ts",
    was: `(isSeen && isDealtWith(exit, taskId))`,
    is: `isSeen`
  },
  {
    name: "task forgotten whose id comes after its caller has left",
    rule: "handle-forgotten",
    file: calls,
    was: `Effect.flatMap(tasks.remembered(parts, view.taskId, tool), store.save).pipe(`,
    is: `tasks.remembered(parts, view.taskId, tool).pipe(`
  },
  {
    name: "task forgotten whose caller has left",
    rule: "handle-forgotten",
    file: "client/src/internal/tasks.ts",
    was: `isGivenUp || (isSeen`,
    is: `true || (isSeen`
  },
  {
    name: "task of an interrupted call left to run",
    rule: "cancel-forgotten",
    file: calls,
    was: `given.options.onInterrupt !== "leave" && isGivenUp(exit)`,
    is: `given.options.onInterrupt !== "leave" && false`
  },
  {
    name: "task left to run whose id comes after the interruption",
    rule: "cancel-forgotten",
    file: calling,
    was: `if (Option.isSome(begun) && begun.value._tag === "Task") yield* onOrphan(begun.value.view)`,
    is: ``
  },
  {
    name: "left task cancelled",
    rule: "cancel-unwanted",
    file: calls,
    was: `given.options.onInterrupt !== "leave" && isGivenUp(exit)`,
    is: `isGivenUp(exit)`
  },
  {
    name: "polled on when nobody waits",
    rule: "asked-after-end",
    file: observation,
    was: `Effect.forkIn(task.scope)
  )`,
    is: `Effect.forkDetach
  )`
  },
  {
    name: "end of a task not told to the poller",
    rule: "asked-after-end",
    file: observation,
    was: `onView: (view) => Effect.andThen(session.take(task, view), session.wakeUp(task)),`,
    is: `onView: (view) => session.take(task, view),`
  },
  {
    name: "tool called for a caller who has left",
    rule: "asked-after-end",
    file: calling,
    was: `call.restore(tools.find(call.tool))`,
    is: `tools.find(call.tool)`
  },
  {
    name: "older view shown",
    rule: "view-reversed",
    file: observer,
    was: `if (isOlder(seen, view)) return overtaken(observer, seen, heardAt)`,
    is: ``
  },
  {
    name: "end of a task overlooked",
    rule: "call-endless",
    file: view,
    was: `view.status !== "working" && view.status !== "input_required"`,
    is: `view.status === "completed"`
  }
]
