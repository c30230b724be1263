/**
 * The tools of the simulated servers. They do what their argument says, and tell the auditor what they saw.
 *
 * @since 0.1.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskLimits from "@effect-mcp-tasks/engine/TaskLimits"
import * as TaskTool from "@effect-mcp-tasks/engine/TaskTool"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Cause from "effect/Cause"
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
  /** A step is about to be taken. Gives back what doing it, and not merely remembering it, makes of it this time. */
  readonly takes: (step: string) => () => number
  /** A step is over, remembered or done. */
  readonly stepped: (step: string, value: number) => void
  /** A question is about to be asked. */
  readonly asks: (key: string) => void
  /** Nobody here waits for the answer any more: it was given up, or could not be asked for. */
  readonly forgets: (key: string, wasGivenUp: boolean) => void
  /** A question came back. */
  readonly answered: (key: string, answer: string) => void
  /** A fault that the script asks for. */
  readonly suffers: (fault: "tool-hangs" | "tool-stubborn" | "tool-dies" | "tool-crash") => void
  /** It goes on for so many milliseconds of its process whatever anybody wishes. */
  readonly isStubborn: (ms: number) => void
  /** The process is to die now. */
  readonly crash: () => void
  /** How the handler is about to end. */
  readonly means: (end: string) => void
  /** The handler has ended, in whichever way; perhaps since it was interrupted. */
  readonly ended: (wasInterrupted: boolean) => void
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
export const limits: Partial<TaskLimits.Limits> = {
  maxLiveTasks: 4,
  maxTtl: Duration.minutes(3),
  maxQuestions: 3,
  maxSteps: 3
}

const parameters = Schema.Struct({ script: Schema.String })
const success = Schema.Struct({ said: Schema.Array(Schema.String) })
const policy = { ttl: "1 minute", resultTtl: "20 seconds", pollInterval: "500 millis" } as const

const make = <const Name extends string>(name: Name, more: TaskTool.TaskPolicy) =>
  Tool.make(name, { parameters, success, failure: Schema.String }).annotate(TaskTool.Policy, { ...policy, ...more })

const Kit = Toolkit.make(
  // So long that a task that nobody finds is still there when everything has calmed down.
  make("resumable", { recovery: "resume", maxLostAttempts: 3, ttl: "90 seconds" }),
  make("once", { recovery: "fail", undeclared: "reject" }),
  make("brief", { recovery: "resume", ttl: "12 seconds", resultTtl: "4 seconds" }),
  make("quick", { recovery: "resume", inlineWithin: "1 second" }),
  // Longer than a client waits before it first repeats a request.
  make("slow", { recovery: "resume", pollInterval: "3 seconds" })
)

/**
 * The names of the tools.
 *
 * @since 0.1.0
 */
export const toolNames = ["resumable", "once", "brief", "quick", "slow"] as const

/**
 * The tools that only clients with the tasks extension may call.
 *
 * @since 0.2.0
 */
export const needsTasks: ReadonlyArray<(typeof toolNames)[number]> = ["once"]

const form = { message: "What is it?", schema: Schema.Struct({ word: Schema.String }) }

type Word = { readonly word: string }

const ask = Effect.fnUntraced(function*(run: Run, key: string, question: CurrentTask.Form<Word, Word> = form) {
  const task = yield* CurrentTask.CurrentTask
  run.asks(key)
  const answer = yield* Effect.onError(
    Effect.orDie(task.elicit(key, question)),
    (cause) => Effect.sync(() => run.forgets(key, Cause.hasInterruptsOnly(cause)))
  )
  const text = answer.action === "accept" ? answer.content.word : answer.action
  run.answered(key, text)
  return `${key}=${text}`
})

const askFor = (run: Run, key: string, ms: number) =>
  Effect.map(Effect.timeoutOption(ask(run, key), ms), Option.getOrElse(() => `${key} in vain`))

const step = Effect.fnUntraced(function*(run: Run, name: string, ms: number) {
  const task = yield* CurrentTask.CurrentTask
  const value = yield* task.step(name, Schema.Int, Effect.delay(Effect.sync(run.takes(name)), ms))
  run.stepped(name, value)
  return `${name}#${value}`
})

/** Takes one step again and again, so shortly after each other that its process still hears of earlier changes. */
const again = (run: Run, name: string) =>
  Effect.flatMap(CurrentTask.CurrentTask, (task) => task.report(`again ${name}`)).pipe(
    Effect.andThen(Effect.forEach([0, 4, 4, 4, 4, 4], (ms) => Effect.delay(step(run, name, 0), ms))),
    Effect.map((said) => said.slice(0, 1))
  )

/** What an operation says, if anything. */
const perform = (op: Script.Op, run: Run): Effect.Effect<ReadonlyArray<string> | string | void, string> => {
  switch (op.op) {
    case "step":
      return step(run, op.name, op.ms)
    case "steps":
      return Effect.all([step(run, op.name, 10), step(run, op.name, 20)], { concurrency: 2 })
    case "again":
      return again(run, op.name)
    case "sleep":
      return Effect.sleep(op.ms)
    case "stubborn":
      run.suffers("tool-stubborn")
      run.isStubborn(op.ms)
      return Effect.uninterruptible(Effect.sleep(op.ms))
    case "report":
      return Effect.flatMap(CurrentTask.CurrentTask, (task) => task.report(op.name))
    case "ask":
      return ask(run, op.name)
    case "reask":
      return ask(run, op.name, { ...form, message: "What else is it?" })
    case "asks":
      return Effect.all([ask(run, op.name), ask(run, op.also)], { concurrency: 2 })
    case "askfor":
      return askFor(run, op.name, op.ms)
    case "overlap":
      return Effect.map(
        Effect.all([askFor(run, op.name, op.ms), Effect.delay(ask(run, op.name), op.ms + 1)], { concurrency: 2 }),
        ([, answer]) => answer
      )
    case "leave":
      return Effect.asVoid(Effect.forkChild(Effect.ignore(ask(run, op.name)), { startImmediately: true }))
    case "detach":
      return Effect.asVoid(Effect.forkDetach(Effect.ignore(ask(run, op.name)), { startImmediately: true }))
    case "extend":
      return Effect.flatMap(CurrentTask.CurrentTask, (task) => task.extend(op.ms))
    case "hang":
      run.suffers("tool-hangs")
      return Effect.never
    case "crash":
      return Effect.suspend(() => {
        run.crash()
        return Effect.never
      })
    case "end":
      return end(op.name, run)
  }
}

const end = (how: Script.Ending, run: Run): Effect.Effect<void, string> => {
  run.means(how)
  switch (how) {
    case "ok":
      return Effect.void
    case "error":
      return Effect.fail("It did not work")
    case "protocol":
      return Effect.die(new TaskTool.ProtocolError({ code: 4050, message: "Broken" }))
    case "die":
      run.suffers("tool-dies")
      return Effect.die(new Error("It broke"))
    case "interrupt":
      return Effect.interrupt
  }
}

/** A plain call has nobody who watches it. */
const unwatched: Run = {
  takes: () => () => 0,
  stepped: () => undefined,
  asks: () => undefined,
  forgets: () => undefined,
  answered: () => undefined,
  suffers: () => undefined,
  crash: () => undefined,
  isStubborn: () => undefined,
  means: () => undefined,
  ended: () => undefined
}

const handler = Effect.fnUntraced(function*({ script }: typeof parameters.Type) {
  const witness = yield* CurrentWitness
  const task = yield* CurrentTask.CurrentTask
  const run = witness === undefined || Option.isNone(task.taskId)
    ? unwatched
    : witness.began(task.taskId.value, task.attempt)
  const ops = Result.getOrThrow(Script.parse(script))
  const said = yield* Effect.onExit(
    Effect.forEach(ops, (op) => perform(op, run)),
    (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) run.means(`ok ${JSON.stringify(wordsOf(exit.value))}`)
        run.ended(Exit.hasInterrupts(exit))
      })
  )
  return { said: wordsOf(said) }
})

const wordsOf = (said: ReadonlyArray<ReadonlyArray<string> | string | void>): ReadonlyArray<string> =>
  said.flatMap((words) => words ?? [])

/**
 * The tools, made once for all simulated servers of this process: they keep nothing.
 *
 * @since 0.1.0
 */
export const tools: TaskTools.TaskTools["Service"] = Effect.runSync(Effect.scoped(
  Effect.map(
    Layer.build(
      TaskTools.layer(Kit).pipe(
        Layer.provide(
          Kit.toLayer({ resumable: handler, once: handler, brief: handler, quick: handler, slow: handler })
        ),
        Layer.provide(TaskLimits.layer(limits))
      )
    ),
    (context) => Context.get(context, TaskTools.TaskTools)
  )
))
