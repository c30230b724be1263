/** Runners that lose, mix up or change what a call brings, refuse with effect, or give work up with its caller. */
import type { Task } from "@effect-mcp-tasks/core"
import { Embedded, TaskEngine, TaskLimits, TaskOwner, TaskRunner, type TaskTools } from "@effect-mcp-tasks/engine"
import { owner } from "@effect-mcp-tasks/testing/FleetTools"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Option } from "effect"
import { type BrokenRunner, callers, calls, handlers, single, stores } from "./BrokenRunners.ts"

/** Takes every answer or cancel for the task that was looked at first. */
const mistaken = (operation: "answer" | "cancel") =>
  callers((engine) => {
    let first: string | undefined
    return {
      view: (owner, taskId) => {
        first ??= taskId
        return engine.view(owner, taskId)
      },
      answer: (owner, taskId, responses) =>
        engine.answer(owner, operation === "answer" ? first ?? taskId : taskId, responses),
      cancel: (owner, taskId) => engine.cancel(owner, operation === "cancel" ? first ?? taskId : taskId)
    }
  })

/** What belongs to one call and its caller, mixed up or lost. */
const mixing: ReadonlyArray<BrokenRunner> = [
  {
    name: "anyone may look at a task",
    fleet: callers((engine) => ({ view: (_owner, taskId) => engine.view(owner, taskId) })),
    noticedBy: ["shows a task to its owner alone, and takes its answer and its cancel from nobody else"]
  },
  {
    name: "anyone may answer a task",
    fleet: callers((engine) => ({ answer: (_owner, taskId, responses) => engine.answer(owner, taskId, responses) })),
    noticedBy: ["shows a task to its owner alone, and takes its answer and its cancel from nobody else"]
  },
  {
    name: "anyone may cancel a task",
    fleet: callers((engine) => ({ cancel: (_owner, taskId) => engine.cancel(owner, taskId) })),
    noticedBy: ["shows a task to its owner alone, and takes its answer and its cancel from nobody else"]
  },
  {
    name: "all tasks are one owner's",
    fleet: calls((request) => ({ ...request, owner })),
    noticedBy: [
      "shows a task to its owner alone, and takes its answer and its cancel from nobody else",
      "counts the tasks of each owner as theirs"
    ]
  },
  {
    name: "an answer goes to another task",
    fleet: mistaken("answer"),
    noticedBy: ["gives an answer to the task that it is for, and to no other"]
  },
  {
    name: "a cancel goes to another task",
    fleet: mistaken("cancel"),
    noticedBy: ["gives a cancel to the task that it is for, and to no other"]
  },
  {
    name: "what a call has asked and done before is dropped",
    fleet: calls((request) => ({ ...request, journal: undefined })),
    noticedBy: ["runs a handler over what its call has asked and done before"]
  },
  {
    name: "the trace of a call is dropped",
    fleet: calls((request) => ({ ...request, traceparent: undefined })),
    noticedBy: ["keeps the trace of the call with its task, and runs the handler in it"]
  },
  {
    name: "a handler runs in a trace of its own",
    fleet: handlers(Effect.withSpan("handler", { root: true })),
    noticedBy: ["keeps the trace of the call with its task, and runs the handler in it"]
  }
]


const keeps = "keeps with a task, to its end, what its call brought, and what its tool and the limits say"
const answersWith = "answers a call with the task as everyone can read it then, and shows how often to poll it"
const seesTheSame = "a handler sees the same of its call in its first attempt, after a kill and after a stop"
const keepsRules = "a task keeps the rules that it was created under when the next process has others"
const keepsApart = "keeps apart what calls bring that come at a time"

/** Tasks that are changed when they are created. */
const created = (change: (task: Task.Task) => Partial<Task.Task>) =>
  stores((store) => ({
    create: (task, options) => store.create({ ...task, ...change(task) } as Task.Task, options)
  }))

/** Tasks that are changed for whoever takes them up. */
const takenUp = (change: (task: Task.Task) => Partial<Task.Task>) =>
  stores((store) => ({
    list: (options) =>
      Effect.map(store.list(options), (page) =>
        page.map(({ task, version }) => ({ version, task: { ...task, ...change(task) } as Task.Task })))
  }))

/** Tools that say something else than they should. */
const saying = (change: (settings: TaskTools.TaskSettings) => Partial<TaskTools.TaskSettings>) =>
  calls(({ tool, ...request }) => ({
    ...request,
    tool: { ...tool, settings: Option.map(tool.settings, (settings) => ({ ...settings, ...change(settings) })) }
  }))

/** What a call brings or a tool says, lost on the way. */
const losing: ReadonlyArray<BrokenRunner> = [
  {
    name: "the arguments of a call are dropped",
    fleet: calls((request) => ({ ...request, arguments: {} })),
    noticedBy: [keeps, keepsApart]
  },
  {
    name: "arguments are dropped when a task is taken up",
    fleet: takenUp(() => ({ arguments: {} })),
    noticedBy: [seesTheSame]
  },
  {
    name: "capabilities are dropped",
    fleet: calls((request) => ({ ...request, capabilities: {} })),
    noticedBy: [keeps, seesTheSame, keepsApart]
  },
  {
    name: "capabilities are dropped when a task is taken up",
    fleet: takenUp(() => ({ capabilities: {} })),
    noticedBy: [seesTheSame]
  },
  {
    name: "the trace is dropped when a task is taken up",
    fleet: takenUp(() => ({ traceparent: "" })),
    noticedBy: [seesTheSame]
  },
  {
    name: "what a call has gathered is dropped when its task is taken up",
    fleet: takenUp(() => ({ steps: [], questions: [] })),
    noticedBy: [seesTheSame]
  },
  {
    name: "a handler sees what its caller holds",
    fleet: single(
      Layer.effect(TaskRunner.TaskRunner, Effect.map(TaskRunner.TaskRunner, (runner) => ({
        submit: (request) =>
          Effect.contextWith((context: Context.Context<never>) => {
            const run = Effect.updateContext(request.call.run, (mine: Context.Context<never>) =>
              Context.merge(context, mine))
            return runner.submit({ ...request, call: { ...request.call, run } })
          })
      }))).pipe(Layer.provideMerge(Embedded.layer))
    ),
    noticedBy: [seesTheSame]
  },
  {
    name: "calls that come at a time are taken for the last of them",
    fleet: (() => {
      let last: TaskRunner.TaskRequest["call"] | undefined
      return calls((request) => {
        last = request.call
        return { ...request, call: { ...request.call, run: Effect.suspend(() => (last ?? request.call).run) } }
      })
    })(),
    noticedBy: [keepsApart]
  },
  {
    name: "a client is told to poll at a rate that nobody said",
    fleet: created(() => ({ pollIntervalMs: 7 })),
    noticedBy: [keeps, answersWith]
  },
  {
    name: "every task lives for an hour",
    fleet: saying(() => ({ ttlMs: 3_600_000 })),
    noticedBy: [keeps, answersWith]
  },
  {
    name: "a task is answered that is not the one that is kept",
    fleet: single(
      Layer.effect(TaskRunner.TaskRunner, Effect.map(TaskRunner.TaskRunner, (runner) => ({
        submit: (request) =>
          Effect.map(runner.submit(request), ({ task, version }) => ({ version, task: { ...task, pollIntervalMs: 7 } }))
      }))).pipe(Layer.provideMerge(Embedded.layer))
    ),
    noticedBy: [answersWith]
  },
  ...(["resultTtlMs", "maxLostAttempts", "maxQuestions", "maxSteps"] as const).map((rule) => ({
    name: `${rule} is what nobody said`,
    fleet: saying(({ policy }) => ({ policy: { ...policy, [rule]: 1_000_000 } })),
    noticedBy: [keeps]
  })),
  {
    name: "a task that is taken up lives under the rules of the day",
    fleet: takenUp(({ policy }) => ({ policy: { ...policy, maxSteps: 1_000 }, pollIntervalMs: 9_000 })),
    noticedBy: [keepsRules]
  }
]

/** The engine and its runner with limits of their own. */
const limited = (change: (limits: TaskLimits.Limits) => Partial<TaskLimits.Limits>) =>
  single(Layer.provide(
    Embedded.layer,
    Layer.effect(
      TaskLimits.TaskLimits,
      Effect.map(TaskLimits.TaskLimits, (limits) => ({ ...limits, ...change(limits) }))
    )
  ))

/** Limits that hold for nobody. */
const boundless: ReadonlyArray<BrokenRunner> = [
  ...(["maxQuestions", "maxSteps"] as const).map((limit) => ({
    name: `${limit} does not hold`,
    fleet: saying(({ policy }) => ({ policy: { ...policy, [limit]: 1_000_000 } })),
    noticedBy: [`ends a handler that goes beyond ${limit}, and none that keeps within it`]
  })),
  ...(["maxEntryLength", "maxJsonDepth", "maxJournalLength"] as const).map((limit) => ({
    name: `${limit} does not hold`,
    fleet: limited(() => ({ [limit]: TaskLimits.defaults[limit] })),
    noticedBy: [`ends a handler that goes beyond ${limit}, and none that keeps within it`]
  })),
  ...(["maxQuestions", "maxSteps"] as const).map((limit) => ({
    name: `${limit} is one less than it says`,
    fleet: saying(({ policy }) => ({ policy: { ...policy, [limit]: policy[limit] - 1 } })),
    noticedBy: [`ends a handler that goes beyond ${limit}, and none that keeps within it`]
  })),
  {
    name: "maxMessageLength does not hold",
    fleet: limited(() => ({ maxMessageLength: TaskLimits.defaults.maxMessageLength })),
    noticedBy: ["cuts what a handler reports at maxMessageLength"]
  },
  {
    name: "maxTtl does not hold",
    fleet: limited(() => ({ maxTtl: TaskLimits.defaults.maxTtl })),
    noticedBy: ["lets no task live longer than maxTtl, though its handler asks for more"]
  },
  {
    name: "maxTtl is a little more than it says",
    fleet: limited(({ maxTtl }) => ({ maxTtl: Duration.sum(maxTtl, Duration.millis(1)) })),
    noticedBy: ["lets no task live longer than maxTtl, though its handler asks for more"]
  },
  {
    name: "maxLiveTasks does not hold",
    fleet: limited(() => ({ maxLiveTasks: TaskLimits.defaults.maxLiveTasks })),
    noticedBy: ["refuses a call beyond maxLiveTasks, has nothing of it run, and takes those of others"]
  }
]

/** Something that a runner does when it has refused a call, or taken one. */
const around = (
  change: (
    request: TaskRunner.TaskRequest,
    runner: TaskRunner.TaskRunner["Service"]
  ) => ReturnType<TaskRunner.TaskRunner["Service"]["submit"]>
) =>
  single(
    Layer.effect(TaskRunner.TaskRunner, Effect.map(TaskRunner.TaskRunner, (runner) => ({
      submit: (request) => change(request, runner)
    }))).pipe(Layer.provideMerge(Embedded.layer))
  )

const mallory = TaskOwner.principal({ issuer: "https://issuer.example", subject: "mallory" })

const refusesBeyond = "refuses a call beyond maxLiveTasks, has nothing of it run, and takes those of others"
const notKept = "has nothing run of a call that the store did not keep, neither at once nor after a restart"
const allOrNone = "takes none of several answers when one of them does not fit"
const hidden = "shows a task to its owner alone, and takes its answer and its cancel from nobody else"

/** Refusals that do something all the same. */
const refusing: ReadonlyArray<BrokenRunner> = [
  {
    name: "a call that was refused is run for another owner",
    fleet: around((request, runner) =>
      Effect.tapError(runner.submit(request), () => Effect.ignore(runner.submit({ ...request, owner: mallory })))),
    noticedBy: [refusesBeyond]
  },
  {
    name: "a call that was refused is run without a task",
    fleet: around((request, runner) =>
      Effect.tapError(runner.submit(request), () => Effect.forkDetach(request.call.run))),
    noticedBy: [refusesBeyond, notKept]
  },
  {
    name: "a call that was refused is kept",
    fleet: stores((store) => ({
      create: (task, options) =>
        Effect.tapError(store.create(task, options), () =>
          Effect.ignore(store.create(task, { maxLive: Number.MAX_SAFE_INTEGER })))
    })),
    noticedBy: [refusesBeyond]
  },
  {
    name: "a call that the store did not keep is made again later",
    fleet: around((request, runner) =>
      Effect.tapError(runner.submit(request), () =>
        Effect.forkDetach(Effect.eventually(Effect.tapError(runner.submit(request), () => Effect.yieldNow))))),
    noticedBy: [notKept]
  },
  {
    name: "all owners share one limit",
    fleet: calls((request) => ({ ...request, owner })),
    noticedBy: [refusesBeyond]
  },
  {
    name: "answers are taken one by one",
    fleet: callers((engine) => ({
      answer: (whose, taskId, responses) =>
        Effect.forEach(
          Object.entries(responses),
          ([key, response]) => engine.answer(whose, taskId, { [key]: response }),
          { discard: true }
        )
    })),
    noticedBy: [allOrNone]
  },
  {
    name: "a stranger's answer is refused, and taken",
    fleet: callers((engine) => ({
      answer: (whose, taskId, responses) =>
        Effect.tapError(engine.answer(whose, taskId, responses), () =>
          Effect.ignore(engine.answer(owner, taskId, responses)))
    })),
    noticedBy: [hidden]
  },
  {
    name: "a stranger's cancel is refused, and heeded",
    fleet: callers((engine) => ({
      cancel: (whose, taskId) =>
        Effect.tapError(engine.cancel(whose, taskId), () => Effect.ignore(engine.cancel(owner, taskId)))
    })),
    noticedBy: [hidden]
  }
]

const outlives = (what: string, whose: string) =>
  ["ends", "is interrupted"].map((how) => `${what} though ${whose} ${how}`)

/** Work that goes with its caller, or does not go with its process. */
const leaving: ReadonlyArray<BrokenRunner> = [
  {
    name: "a handler is its caller's child",
    fleet: single(
      Layer.effect(TaskRunner.TaskRunner, Effect.gen(function*() {
        const runner = yield* TaskRunner.TaskRunner
        const engine = yield* TaskEngine.TaskEngine
        return {
          submit: (request) =>
            Effect.tap(runner.submit(request), ({ task: { taskId } }) =>
              Effect.forkChild(
                Effect.onInterrupt(Effect.never, () => Effect.ignore(engine.cancel(request.owner, taskId))),
                { startImmediately: true }
              ))
        } satisfies TaskRunner.TaskRunner["Service"]
      })).pipe(Layer.provideMerge(Embedded.layer))
    ),
    noticedBy: outlives("a task is run to its end", "the caller that made it")
  },
  {
    name: "an answer is its caller's child",
    fleet: callers((engine) => ({ answer: (...args) => Effect.asVoid(Effect.forkChild(engine.answer(...args))) })),
    noticedBy: outlives("an answer reaches its handler", "whoever gave it")
  },
  {
    name: "a cancel is its caller's child",
    fleet: callers((engine) => ({ cancel: (...args) => Effect.asVoid(Effect.forkChild(engine.cancel(...args))) })),
    noticedBy: outlives("a cancel reaches its handler", "whoever gave it")
  },
  {
    name: "a task is kept, and begun only if its caller is still there",
    fleet: around((request, runner) =>
      Effect.gen(function*() {
        const begins = yield* Deferred.make<void>()
        const run = Effect.andThen(Deferred.await(begins), request.call.run)
        const stored = yield* runner.submit({ ...request, call: { ...request.call, run } })
        yield* Deferred.succeed(begins, undefined)
        return stored
      })),
    noticedBy: ["a task whose caller goes away before it hears of it is made and run, or is not there"]
  },
  {
    name: "a handler goes on when its process has ended",
    fleet: handlers((run) => Effect.flatMap(Effect.forkDetach(run), Fiber.join)),
    noticedBy: ["a handler ends with its process"]
  }
]

/** All of them. */
export const all: ReadonlyArray<BrokenRunner> = [
  ...mixing,
  ...losing,
  ...boundless,
  ...refusing,
  ...leaving
]
