/**
 * The tools of the simulated servers. They do what their argument says, and tell the auditor what they saw.
 *
 * @since 0.1.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskLimits from "@effect-mcp-tasks/engine/TaskLimits"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Script from "./Script.ts"

/**
 * Who hears what a handler does. A handler finds it in its process.
 *
 * @since 0.1.0
 */
export interface Witness {
  /** A handler begins. `run` names this run of it. */
  readonly began: (taskId: string, attempt: number) => Run
}

/**
 * One run of a handler, for whoever watches.
 *
 * @since 0.1.0
 */
export interface Run {
  /** A step is done, not merely remembered; gives back the value that this time makes. */
  readonly did: (step: string) => number
  /** A step is over, remembered or done. */
  readonly stepped: (step: string, value: number) => void
  /** A question is about to be asked. */
  readonly asks: (key: string) => void
  /** A question came back. */
  readonly answered: (key: string, answer: string) => void
  /** A fault that the script asks for. */
  readonly suffers: (fault: "tool-hangs" | "tool-stubborn" | "tool-dies" | "tool-crash") => void
  /** It goes on for so many milliseconds of its process whatever anybody wishes. */
  readonly isStubborn: (ms: number) => void
  /** The process is to die now. */
  readonly crash: () => void
  /** The handler is about to return this. */
  readonly returns: (text: string) => void
  /** The handler has ended, in whichever way. */
  readonly ended: () => void
}

/**
 * Who hears what handlers do in this process.
 *
 * @since 0.1.0
 */
export const CurrentWitness: Context.Reference<Witness | undefined> = Context.Reference<Witness | undefined>(
  "@effect-mcp-tasks/simulation/CurrentWitness",
  { defaultValue: () => undefined }
)

/**
 * What the simulated tools allow; small, so that limits are reached.
 *
 * @since 0.1.0
 */
export const limits: Partial<TaskLimits.Limits> = { maxLiveTasks: 6, maxTtl: Duration.minutes(3), maxQuestions: 4 }

const parameters = Schema.Struct({ script: Schema.String })
const success = Schema.Struct({ said: Schema.Array(Schema.String) })
const policy = { ttl: "1 minute", resultTtl: "20 seconds", pollInterval: "500 millis" } as const

const make = <const Name extends string>(name: Name, more: TaskTool.TaskPolicy) =>
  Tool.make(name, { parameters, success, failure: Schema.String }).annotate(TaskTool.Policy, { ...policy, ...more })

const Kit = Toolkit.make(
  make("resumable", { recovery: "resume", maxLostAttempts: 3 }),
  make("once", { recovery: "fail" }),
  make("quick", { recovery: "resume", inlineWithin: "1 second" })
)

/**
 * The names of the tools.
 *
 * @since 0.1.0
 */
export const toolNames = ["resumable", "once", "quick"] as const

const form = { message: "What is it?", schema: Schema.Struct({ word: Schema.String }) }

const perform = Effect.fnUntraced(function*(op: Script.Op, run: Run, said: Array<string>) {
  const task = yield* CurrentTask.CurrentTask
  const ask = (key: string) =>
    Effect.suspend(() => {
      run.asks(key)
      return Effect.map(Effect.orDie(task.elicit(key, form)), (answer) => {
        const text = answer.action === "accept" ? answer.content.word : answer.action
        run.answered(key, text)
        said.push(`${key}=${text}`)
      })
    })
  switch (op.op) {
    case "step": {
      const value = yield* task.step(op.name, Schema.Int, Effect.delay(Effect.sync(() => run.did(op.name)), op.ms))
      run.stepped(op.name, value)
      said.push(`${op.name}#${value}`)
      return
    }
    case "sleep":
      return yield* Effect.sleep(op.ms)
    case "stubborn":
      run.suffers("tool-stubborn")
      run.isStubborn(op.ms)
      return yield* Effect.uninterruptible(Effect.sleep(op.ms))
    case "report":
      return yield* task.report(op.name)
    case "ask":
      return yield* ask(op.name)
    case "asks":
      return yield* Effect.all([ask(op.name), ask(op.also)], { concurrency: 2, discard: true })
    case "askfor":
      return yield* Effect.asVoid(Effect.timeoutOption(ask(op.name), op.ms))
    case "leave":
      return yield* Effect.asVoid(Effect.forkDetach(Effect.ignore(ask(op.name)), { startImmediately: true }))
    case "extend":
      return yield* task.extend(op.ms)
    case "hang":
      run.suffers("tool-hangs")
      return yield* Effect.never
    case "crash":
      run.suffers("tool-crash")
      run.crash()
      return yield* Effect.never
    case "end":
      return yield* end(op.name, run)
  }
})

const end = (how: Script.Ending, run: Run): Effect.Effect<void, string> => {
  switch (how) {
    case "ok":
      return Effect.void
    case "error":
      return Effect.fail("It did not work")
    case "protocol":
      return Effect.die(new TaskTool.ProtocolError({ code: -32050, message: "Broken" }))
    case "die":
      run.suffers("tool-dies")
      return Effect.die(new Error("It broke"))
    case "interrupt":
      return Effect.interrupt
  }
}

/** A plain call has nobody who watches it. */
const unwatched: Run = {
  did: () => 0,
  stepped: () => undefined,
  asks: () => undefined,
  answered: () => undefined,
  suffers: () => undefined,
  crash: () => undefined,
  isStubborn: () => undefined,
  returns: () => undefined,
  ended: () => undefined
}

const handler = Effect.fnUntraced(function*({ script }: typeof parameters.Type) {
  const witness = yield* CurrentWitness
  const task = yield* CurrentTask.CurrentTask
  const run = witness === undefined || Option.isNone(task.taskId)
    ? unwatched
    : witness.began(task.taskId.value, task.attempt)
  const said: Array<string> = []
  const ops = Result.getOrThrow(Script.parse(script))
  yield* Effect.onExit(
    Effect.forEach(ops, (op) => perform(op, run, said), { discard: true }),
    (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) run.returns(JSON.stringify(said))
        run.ended()
      })
  )
  return { said }
})

/**
 * The tools, made once for all simulated servers of this process: they keep nothing.
 *
 * @since 0.1.0
 */
export const tools: TaskTools.TaskTools["Service"] = Effect.runSync(Effect.scoped(
  Effect.map(
    Layer.build(
      TaskTools.layer(Kit).pipe(
        Layer.provide(Kit.toLayer({ resumable: handler, once: handler, quick: handler })),
        Layer.provide(TaskLimits.layer(limits))
      )
    ),
    (context) => Context.get(context, TaskTools.TaskTools)
  )
))
