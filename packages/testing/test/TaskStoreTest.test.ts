/** That the suite for stores passes what is right, fails what is wrong, and shows what is lacking. */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { Suite } from "@effect-mcp-tasks/testing"
import * as TaskStoreTest from "@effect-mcp-tasks/testing/TaskStoreTest"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Duration, Effect, Exit, Layer, Option, Semaphore } from "effect"
import * as interruption from "../src/internal/interruption.ts"
import * as BrokenInterrupts from "./BrokenInterrupts.ts"
import * as BrokenLogs from "./BrokenLogs.ts"
import * as BrokenReads from "./BrokenReads.ts"
import * as BrokenStores from "./BrokenStores.ts"
import * as Trial from "./Trial.ts"

type Store = TaskStore.TaskStore["Service"]

const memory = Effect.map(Layer.build(Layer.fresh(TaskStore.layerMemory)), Context.get(TaskStore.TaskStore))

/** A place in memory that outlives the processes which open it; `opens` is what each of them makes of it. */
const shared = (opens: (store: Store) => Store): TaskStoreTest.Place =>
  Effect.map(memory, (store) => Layer.effect(TaskStore.TaskStore, Effect.sync(() => opens(store))))

/** A place in memory that one process at a time can have open; another one that comes waits, or fails: soon or late. */
const locked = (other: "waits" | "fails" | "dies" | "fails to read" | "fails to write"): TaskStoreTest.Place =>
  Effect.map(memory, (store) => {
    const lock = Semaphore.makeUnsafe(1)
    const refuse = (operation: TaskStore.TaskStoreError["operation"]) => () =>
      Effect.fail(new TaskStore.TaskStoreError({ operation, reason: "Unavailable", cause: "locked" }))
    const refused = { create: refuse("create"), replace: refuse("replace"), remove: refuse("remove") }
    const take = other === "waits" ? Effect.as(lock.take(1), true) : lock.takeIfAvailable(1)
    const opening = Effect.acquireRelease(take, (taken) => taken ? lock.release(1) : Effect.void)
    return Layer.effect(
      TaskStore.TaskStore,
      Effect.flatMap(opening, (taken): Effect.Effect<Store, string> => {
        if (taken) return Effect.succeed(store)
        if (other === "fails") return Effect.fail("locked")
        if (other === "dies") return Effect.die("locked")
        return Effect.succeed({ ...store, ...refused, ...(other === "fails to read" && { list: refuse("list") }) })
      })
    )
  })

TaskStoreTest.suite("a store in memory that outlives its processes", shared((store) => store))

TaskStoreTest.suite("a store in memory with a log", BrokenLogs.place(BrokenLogs.sound), {
  lacks: { processes: "a process reads the log only when it opens it" }
})

describe("the suite for stores", () => {
  for (const { breaks, name, noticedBy } of BrokenStores.all) {
    it.effect(`notices that ${name}`, () =>
      Effect.gen(function*() {
        const layer = Layer.effect(TaskStore.TaskStore, Effect.map(memory, breaks))
        const cases = Trial.named(TaskStoreTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, layer), noticedBy)
      }))
  }

  for (const { breaks, name, noticedBy } of BrokenInterrupts.inMemory) {
    it.effect(`notices that ${name}`, () =>
      Effect.gen(function*() {
        const layer = Layer.effect(TaskStore.TaskStore, Effect.map(memory, breaks))
        const cases = Trial.named(TaskStoreTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, layer), noticedBy)
      }).pipe(Effect.provideService(interruption.Patience, Duration.millis(100))))
  }

  for (const { name, noticedBy, ...log } of BrokenLogs.all) {
    it.effect(`notices that ${name}`, () =>
      Effect.gen(function*() {
        const cases = Trial.named(TaskStoreTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, BrokenLogs.place(log)), noticedBy)
      }))
  }

  for (const { name, noticedBy, ...log } of BrokenLogs.hasty) {
    it.effect(`notices that ${name}, though it is whole after every restart in good order`, () =>
      Effect.gen(function*() {
        const inGoodOrder = Trial.named(TaskStoreTest.cases, BrokenLogs.inGoodOrder)
        assert.deepStrictEqual(yield* Trial.failing(inGoodOrder, BrokenLogs.place(log)), [])
        const cases = Trial.named(TaskStoreTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, BrokenLogs.place(log)), noticedBy)
      }))
  }

  it.effect("tells the writer of a store that locks its place what to declare", () =>
    Effect.gen(function*() {
      const crashes = TaskStoreTest.cases.filter(({ needs }) => needs.includes("crashes"))
      for (const lock of ["waits", "fails", "dies", "fails to read", "fails to write"] as const) {
        for (const each of crashes) {
          const exit = yield* Effect.exit(each.run(locked(lock)))
          assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "lacks: { crashes")
        }
      }
      const rest = TaskStoreTest.cases.filter((each) =>
        each.needs.includes("durability") && Suite.reasonToSkip(each, { crashes: "the place is locked" }) === undefined)
      assert.isAbove(rest.length, 3)
      assert.deepStrictEqual(yield* Trial.failing(rest, locked("fails")), [])
    }).pipe(Effect.provideService(interruption.Patience, Duration.millis(100))))

  it.effect("notices that tasks die with their process", () =>
    Effect.gen(function*() {
      const cases = TaskStoreTest.cases.filter(({ needs }) => needs.includes("durability"))
      const titles = cases.map(({ title }) => title)
      assert.isAbove(titles.length, 1)
      const place = Effect.succeed(TaskStore.layerMemory)
      assert.deepStrictEqual(yield* Trial.failing(cases, place), titles)
    }))

  it.effect("notices that processes do not see each other", () =>
    Effect.gen(function*() {
      const cases = TaskStoreTest.cases.filter(({ needs }) => needs.includes("processes"))
      const titles = cases.map(({ title }) => title)
      assert.isAbove(titles.length, 3)
      const place = Effect.succeed(TaskStore.layerMemory)
      assert.deepStrictEqual(yield* Trial.failing(cases, place), titles)
    }))

  it.effect("notices a lock that each process has for itself", () =>
    Effect.gen(function*() {
      const noticedBy = ["lets exactly one writer of all processes win, 20 times over"]
      const place = shared((store) => {
        const lock = Semaphore.makeUnsafe(1)
        return {
          ...store,
          replace: ({ task: { taskId }, version }, next) =>
            lock.withPermits(1)(Effect.gen(function*() {
              const found = Option.getOrThrow(yield* store.read(taskId))
              yield* Effect.yieldNow
              if (found.version !== version) return yield* new TaskStore.VersionConflict({ taskId, version })
              const now = Option.getOrThrow(yield* store.read(taskId))
              return yield* store.replace(now, next)
            }))
        }
      })
      const one = Trial.named(TaskStoreTest.cases, ["lets exactly one of 50 writers win, 20 times over"])
      assert.deepStrictEqual(yield* Trial.failing(one, place), [])
      assert.deepStrictEqual(yield* Trial.failing(Trial.named(TaskStoreTest.cases, noticedBy), place), noticedBy)
    }))

  it.effect("notices that a process remembers what it has shown", () =>
    Effect.gen(function*() {
      const noticedBy = ["shows at once what another process wrote"]
      for (const remembers of [BrokenReads.cached, BrokenReads.remembersEnded]) {
        const cases = Trial.named(TaskStoreTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, shared(remembers)), noticedBy)
      }
    }))

  it("has a title of its own for each case", () => {
    const titles = TaskStoreTest.cases.map(({ title }) => title)
    assert.deepStrictEqual(titles, [...new Set(titles)])
  })
})

describe("a case that a backend cannot pass", () => {
  const lacks: Suite.Lacks<TaskStoreTest.Capability> = { exactLimit: "rows are not locked", processes: "one file" }

  it("is left out with the reason, and no other is", () => {
    const reasons = TaskStoreTest.cases.flatMap((each) => {
      const reason = Suite.reasonToSkip(each, lacks)
      return reason === undefined ? [] : [`${each.title} (${reason})`]
    })
    assert.include(
      reasons,
      "creates exactly as many as the limit, of 100 that come at once (lacks exactLimit: rows are not locked)"
    )
    assert.include(
      reasons,
      "shares one limit between all processes (lacks processes: one file; exactLimit: rows are not locked)"
    )
    const needing = TaskStoreTest.cases.filter(({ needs }) =>
      needs.includes("exactLimit") || needs.includes("processes"))
    assert.strictEqual(reasons.length, needing.length)
  })

  it("is none where nothing is lacking", () => {
    assert.deepStrictEqual(TaskStoreTest.cases.filter((each) => Suite.reasonToSkip(each, {}) !== undefined), [])
  })
})
