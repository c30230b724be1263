/** A process that is told to end (SIGTERM), whatever its tasks are doing at that moment. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Schedule, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as services from "../../engine/test/services.ts"
import * as Client from "../src/campaign/Client.ts"
import * as Proxy from "../src/campaign/Proxy.ts"
import * as Verdict from "../src/campaign/Verdict.ts"
import * as World from "../src/campaign/World.ts"

const program = fileURLToPath(new URL("../src/campaign/replica.ts", import.meta.url))

/** A replica of the campaign waits half a second for its handlers; this allows for a busy machine. */
const longest = "1 minute"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-tasks-phases-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Where replicas keep their tasks, and the file in which their tools tell what they do. */
const place = Effect.fnUntraced(function*(store: "sqlite" | "redis", at?: string) {
  const path = yield* directory
  const world = join(path, "world.jsonl")
  writeFileSync(world, "")
  return { store, at: at ?? join(path, "tasks.sqlite"), name: services.uniqueName(), world }
})

const start = Effect.fnUntraced(function*({ at, name, store, world }: Effect.Success<ReturnType<typeof place>>) {
  const child = yield* ChildProcess.make(
    process.execPath,
    [
      "--conditions=@effect-mcp-tasks/source", program,
      "--store", store, "--at", at, "--name", name, "--world", world
    ],
    { stdin: "ignore", stderr: "inherit", forceKillAfter: "1 second" }
  )
  const [url] = yield* Stream.runCollect(child.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1)))
  return {
    url: url ?? assert.fail("The replica has not started"),
    /** Tells it to end; gives the code it ends with. */
    end: Effect.suspend(() => {
      process.kill(child.pid, "SIGTERM")
      return Effect.timeout(child.exitCode, longest)
    })
  }
})

const soon = Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1_000 })

/** Waits until a task has done so, by what the tools tell. */
const done = (world: string, taskId: string, what: (deed: World.Deed) => boolean) =>
  World.read(world).pipe(
    Effect.filterOrFail((deeds) => deeds.some((deed) => deed.taskId === taskId && what(deed))),
    soon
  )

const isRunning = ({ _tag }: World.Deed) => _tag === "Run"
const isInStep = ({ _tag }: World.Deed) => _tag === "Begin"

const until = (url: string, taskId: string, isSo: (view: Client.View) => boolean) =>
  Client.get(url, taskId).pipe(Effect.filterOrFail(isSo), soon)

const hasEnded = ({ status }: Client.View) => status !== "working" && status !== "input_required"

/** Sees tasks to their end, and asserts that nothing was lost, done twice or counted as a lost attempt. */
const allEndWell = Effect.fnUntraced(function*(
  url: string,
  world: string,
  tasks: ReadonlyArray<Omit<Verdict.Seen, "ended" | "last" | "cancelled">>
) {
  const seen = yield* Effect.forEach(tasks, (task) =>
    Effect.map(until(url, task.taskId, hasEnded), (last) => ({ ...task, cancelled: false, ended: last, last })))
  const deeds = yield* World.read(world)
  assert.deepStrictEqual(
    Verdict.judge(seen, deeds),
    { lost: [], twice: [], stuck: [], unheard: [], repeated: [], wrong: [] }
  )
  assert.notInclude(deeds.map((deed) => deed._tag === "Event" ? deed.event : ""), "AttemptLost")
  return deeds
})

const test = (title: string, effect: Effect.Effect<void, unknown, never>) =>
  it.live(title, () => Effect.provideService(effect, Client.Patience, "1 minute"))

describe("a process that is told to end", () => {
  test(
    "hands back what is queued, running, in a step and parked, and all of it ends after a restart",
    Effect.gen(function*() {
      const where = yield* place("sqlite")
      const first = yield* start(where)
      const create = (tool: string) => Effect.map(Client.create(first.url, tool), ({ taskId }) => ({ taskId, tool }))
      const parked = yield* create("ask")
      yield* until(first.url, parked.taskId, ({ status }) => status === "input_required")
      const inStep = yield* create("long")
      yield* done(where.world, inStep.taskId, isInStep)
      // With the one in its step these have all four slots.
      const running = yield* Effect.forEach(["long", "long", "long"], create)
      for (const { taskId } of running) yield* done(where.world, taskId, isRunning)
      const queued = yield* create("work")
      assert.strictEqual(Number(yield* first.end), 0)
      const before = (yield* World.read(where.world)).filter(({ taskId }) => taskId === queued.taskId)
      assert.deepStrictEqual(before.filter(isRunning), [])

      const second = yield* start(where)
      const asked = yield* until(second.url, parked.taskId, ({ status }) => status === "input_required")
      yield* Client.answer(second.url, asked, "yes")
      const tasks = [{ ...parked, answered: "yes" }, inStep, ...running, queued]
      const deeds = yield* allEndWell(second.url, where.world, tasks)
      const attempts = (taskId: string) => deeds.filter((deed) => deed.taskId === taskId && isRunning(deed)).length
      assert.deepStrictEqual(tasks.map(({ taskId }) => attempts(taskId)), [2, 2, 2, 2, 2, 1])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  services.withService(services.redis, (url) => {
    test(
      "while the end of a task is being written loses none of it",
      Effect.gen(function*() {
        const proxy = yield* Proxy.make(Number(new URL(url).port) || 6379)
        const where = yield* place("redis", url)
        const slow = yield* start({ ...where, at: `redis://127.0.0.1:${proxy.port}` })
        const tasks = yield* Effect.forEach(["work", "work", "once", "once"], (tool) =>
          Effect.map(Client.create(slow.url, tool), ({ taskId }) => ({ taskId, tool })))
        const [last] = tasks
        assert.isDefined(last)
        yield* done(where.world, last.taskId, (deed) => deed._tag === "Kept" && deed.step === "2")
        // From here on whatever is written is known to have been written only 400 ms later.
        const code = yield* proxy.slow(400)(Effect.andThen(
          done(where.world, last.taskId, (deed) => deed._tag === "Kept" && deed.step === "3"),
          slow.end
        ))
        assert.strictEqual(Number(code), 0)
        const second = yield* start(where)
        yield* allEndWell(second.url, where.world, tasks)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  })
})
