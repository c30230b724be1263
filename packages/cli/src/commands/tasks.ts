/**
 * The operators' commands: `tasks list`, `show`, `cancel`, `purge` and `stats`, straight on a store.
 *
 * They see every owner's tasks, whole: arguments, answers and results. They need no server, and may be used while
 * servers run on the same store.
 *
 * @since 0.2.0
 */
import * as Task from "@effect-mcp-tasks/core/Task"
import * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Clock from "effect/Clock"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as CliFailure from "../CliFailure.ts"
import * as Output from "../Output.ts"
import * as Store from "../Store.ts"

const shared = {
  ...Store.input,
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print JSON, one document on each line"),
    Flag.withDefault(false)
  )
}

const filters = {
  owner: Flag.String("owner").pipe(Flag.withDescription("Only the tasks of this owner's key"), Flag.optional),
  tool: Flag.String("tool").pipe(Flag.withDescription("Only the tasks of this tool"), Flag.optional),
  status: Flag.Literals("status", ["working", "input_required", "completed", "failed", "cancelled"]).pipe(
    Flag.withDescription("Only the tasks in this status"),
    Flag.optional
  )
}

interface Filters {
  readonly owner: Option.Option<string>
  readonly tool: Option.Option<string>
  readonly status: Option.Option<Task.Task["status"]>
}

const pageSize = 200

const isLive = (status: Task.Task["status"]): boolean => status === "working" || status === "input_required"

/** Every task that the filters let through, in the order of their ids. */
const found = ({ owner, status, tool }: Filters) =>
  Stream.unwrap(Effect.map(TaskStore.TaskStore, (store) =>
    Stream.paginate(undefined as string | undefined, (after) =>
      Effect.map(
        store.list({
          owner: Option.getOrUndefined(owner),
          live: Option.getOrUndefined(Option.map(status, isLive)),
          after,
          limit: pageSize
        }),
        (page) => {
          const last = page.at(-1)?.task.taskId
          return [page, page.length < pageSize || last === undefined ? Option.none() : Option.some(last)] as const
        }
      )).pipe(
        Stream.filter(({ task }) =>
          (Option.isNone(status) || status.value === task.status) && (Option.isNone(tool) || tool.value === task.tool)
        )
      )))

const engine = Layer.provide(TaskEngine.layer, SecureRandom.layerWebCrypto)

/** Runs a command on the store, if there is one. What a store warns of is for its servers, unless it is asked for. */
const on = Effect.fnUntraced(function*<A, E, R>(
  given: Store.Input,
  run: Effect.Effect<A, E, R | TaskStore.TaskStore | TaskEngine.TaskEngine>
) {
  yield* Store.mustExist(given)
  const level = Option.getOrElse(yield* GlobalFlag.LogLevel, () => "Error" as const)
  return yield* run.pipe(
    Effect.provide(Layer.provideMerge(engine, Store.of(given))),
    Effect.mapError((error) => Store.failure(given, error)),
    Effect.provideService(References.MinimumLogLevel, level)
  )
})

const iso = (at: number): string => DateTime.formatIso(DateTime.makeUnsafe(at))

const row = ({ task }: Task.Stored): string =>
  Output.oneLine(`${task.taskId}  ${task.status.padEnd(14)}  ${iso(task.createdAt)}  ${task.tool}  ${task.owner}`)

const atLeast = (minimum: number) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(minimum))

const list = Command.make(
  "list",
  {
    ...shared,
    ...filters,
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("At most so many"),
      Flag.withSchema(atLeast(1)),
      Flag.withDefault(100)
    )
  },
  (given) =>
    on(given, Stream.runForEach(Stream.take(found(given), given.limit), (stored) =>
      given.json ? Output.json({ ...stored.task, version: stored.version }) : Output.print(row(stored))))
).pipe(
  Command.withDescription("List tasks: id, status, time of creation, tool, owner"),
  Command.withExamples([{ command: "mcp-tasks tasks list --file tasks.sqlite --status input_required" }])
)

const task = Argument.String("task").pipe(Argument.withDescription("The id of the task"))

const read = Effect.fnUntraced(function*(taskId: string) {
  const store = yield* TaskStore.TaskStore
  const stored = yield* store.read(taskId)
  if (Option.isSome(stored)) return stored.value
  return yield* new CliFailure.CliFailure({
    message: `There is no task ${taskId} in this store`,
    exitCode: CliFailure.ExitCode.taskExpired
  })
})

const show = Command.make("show", { ...shared, task }, (given) =>
  on(given, Effect.flatMap(read(given.task), (stored) =>
    given.json
      ? Output.json({ ...stored.task, version: stored.version })
      : Output.print(Output.jsonText({ ...stored.task, version: stored.version }, 2))))).pipe(
    Command.withDescription("Show everything that is kept of a task"),
    Command.withExamples([{ command: "mcp-tasks tasks show TASK --store redis" }])
  )

const cancel = Command.make("cancel", { ...shared, task }, (given) =>
  on(given, Effect.gen(function*() {
    const { task } = yield* read(given.task)
    if (Task.isTerminal(task)) return yield* CliFailure.usage(`The task has ended already: it is ${task.status}`)
    const engine = yield* TaskEngine.TaskEngine
    const after = yield* Effect.catchTag(
      engine.apply(given.task, { _tag: "Cancel", at: yield* engine.now }),
      ["TaskRejected", "TaskNotFound"],
      () => Effect.fail(CliFailure.usage("The task ended in this moment"))
    )
    const { status } = after.task
    if (given.json) return yield* Output.json({ taskId: given.task, status })
    yield* Output.print(status === "cancelled" ? "cancelled" : "The task was asked to stop; it may still end otherwise")
  }))).pipe(Command.withDescription("Ask a task to stop, whoever owns it"))

const purge = Command.make(
  "purge",
  {
    ...shared,
    ...filters,
    olderThan: Flag.Int("older-than").pipe(
      Flag.withDescription("Only tasks whose last change is at least so many seconds ago"),
      Flag.withSchema(atLeast(0)),
      Flag.withDefault(0)
    ),
    yes: Flag.Boolean("yes").pipe(Flag.withDescription("Really remove them"), Flag.withDefault(false))
  },
  (given) =>
    on(given, Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      const before = (yield* Clock.currentTimeMillis) - given.olderThan * 1000
      const ended = Stream.filter(
        found(given),
        ({ task }) => Task.isTerminal(task) && task.lastUpdatedAt <= before
      )
      const count = yield* Stream.runFoldEffect(ended, () => 0, (count, { task, version }) =>
        given.yes
          ? Effect.map(store.remove(task.taskId, version), (isRemoved) => isRemoved ? count + 1 : count)
          : Effect.succeed(count + 1))
      if (given.json) return yield* Output.json({ [given.yes ? "removed" : "wouldRemove"]: count })
      yield* Output.print(given.yes ? `Removed ${count} tasks` : `${count} tasks would be removed: add --yes to do it`)
    }))
).pipe(
  Command.withDescription("Remove ended tasks, with their results; live tasks are never touched"),
  Command.withExamples([{ command: "mcp-tasks tasks purge --status failed --older-than 86400 --yes" }])
)

const stats = Command.make("stats", { ...shared, ...filters }, (given) =>
  on(given, Effect.gen(function*() {
    const counts = yield* Stream.runFold(
      found(given),
      () => ({ status: {} as Record<string, number>, tool: {} as Record<string, number>, total: 0 }),
      ({ status, tool, total }, { task }) => ({
        status: { ...status, [task.status]: (status[task.status] ?? 0) + 1 },
        tool: { ...tool, [task.tool]: (tool[task.tool] ?? 0) + 1 },
        total: total + 1
      })
    )
    if (given.json) return yield* Output.json(counts)
    const lines = (of: Record<string, number>) =>
      Object.entries(of).map(([name, count]) => `  ${String(count).padStart(8)}  ${Output.oneLine(name)}`)
    yield* Output.print(
      [`${counts.total} tasks`, "by status", ...lines(counts.status), "by tool", ...lines(counts.tool)].join("\n")
    )
  }))).pipe(Command.withDescription("Count tasks by status and by tool"))

/**
 * `tasks`: the operators' commands.
 *
 * @category commands
 * @since 0.2.0
 */
export const tasks = Command.make("tasks").pipe(
  Command.withDescription("For operators: look into a store, and put things in order"),
  Command.withSubcommands([list, show, cancel, purge, stats])
)
