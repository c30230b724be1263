/**
 * A refusal has no effect: what was refused is neither kept nor run nor applied in part, at once or later, for whoever
 * asked or for anybody else.
 *
 * @since 0.2.0
 */
import * as CurrentTask from "@effect-mcp-tasks/engine/CurrentTask"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import { assert } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { Fleet, type Process, start } from "../Fleet.ts"
import { accept, call, confirm, get, owner, submit } from "../FleetTools.ts"
import { needing, type RunnerCase } from "./runnerCase.ts"

const test = needing()
const quick = { lease: "1 second", grace: "0 seconds" } as const

const eve = TaskOwner.principal({ issuer: "https://issuer.example", subject: "eve" })

/** All tasks that there are, as their owners and what they were called with. */
const kept = Effect.gen(function*() {
  const { store } = yield* Fleet
  const tasks = yield* store.list({ limit: 100 })
  return tasks.map(({ task }) => `${task.owner} ${String(task.arguments["text"])}`).toSorted()
})

const ownerOf = (whose: TaskOwner.TaskOwner, texts: ReadonlyArray<string>) =>
  texts.map((text) => `${TaskOwner.key(whose)} ${text}`)

/** Calls a tool, and gives back what the call was refused with. */
const refused = (process: Process, text: string) => Effect.flip(submit(process, "once", { text }))

/** Why a store may not keep a task. */
const reasons = ["Unavailable", "ConnectionLost", "ReadOnly", "Full", "Misused", "NotReady", "TooLarge"] as const

const taken: unknown = new TaskStore.TaskAlreadyExists({ taskId: "taken" })

/** Creates nothing, for one of the reasons or since the id is taken. */
const creatingNothing = ({ link }: Process, why: typeof reasons[number] | "taken"): Process["link"]["disturb"] =>
<A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) => {
  if (operation !== "create") return effect
  return why === "taken" ? Effect.fail(taken as E) : link.fail(operation, why)
}

/**
 * The cases.
 *
 * @since 0.2.0
 */
export const cases: ReadonlyArray<RunnerCase> = [
  test("refuses a call beyond maxLiveTasks, has nothing of it run, and takes those of others", ({ becomes, until }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make<ReadonlyArray<string>>([])
      const gate = yield* Deferred.make<void>()
      const once = (text: string) =>
        Effect.andThen(Ref.update(runs, (before) => [...before, text]), Deferred.await(gate))
      const process = yield* start({ once }, { limits: { maxLiveTasks: 2 } })
      const taken = [yield* call(process, "once", "1"), yield* call(process, "once", "2")]
      for (const text of ["3", "4"]) assert.strictEqual((yield* refused(process, text))._tag, "TooManyTasks")
      yield* submit(process, "once", { owner: eve, text: "hers" })
      yield* until("the three run", Effect.map(Ref.get(runs), ({ length }) => length >= 3))
      yield* Deferred.succeed(gate, undefined)
      for (const taskId of taken) yield* becomes(process, taskId, "completed")
      yield* becomes(process, yield* call(process, "once", "5"), "completed")
      assert.deepStrictEqual((yield* Ref.get(runs)).toSorted(), ["1", "2", "5", "hers"])
      assert.deepStrictEqual(yield* kept, [...ownerOf(owner, ["1", "2", "5"]), ...ownerOf(eve, ["hers"])].toSorted())
    })),

  test("has nothing run of a call that the store did not keep, neither at once nor after a restart", ({ becomes }) =>
    Effect.gen(function*() {
      const runs = yield* Ref.make<ReadonlyArray<string>>([])
      const once = (text: string) => Ref.update(runs, (before) => [...before, text])
      const first = yield* start({ once }, quick)
      const { disturb } = first.link
      for (const why of [...reasons, "taken"] as const) {
        first.link.disturb = creatingNothing(first, why)
        const { _tag } = yield* refused(first, why)
        assert.strictEqual(_tag, why === "taken" ? "TaskAlreadyExists" : "TaskStoreError")
      }
      first.link.disturb = disturb
      yield* becomes(first, yield* call(first, "once", "kept"), "completed")
      yield* first.stop
      const second = yield* start({ once }, quick)
      yield* becomes(second, yield* call(second, "once", "kept, too"), "completed")
      assert.deepStrictEqual(yield* Ref.get(runs), ["kept", "kept, too"])
      assert.deepStrictEqual(yield* kept, ownerOf(owner, ["kept", "kept, too"]))
    })),

  test("takes none of several answers when one of them does not fit", ({ becomes, until }) =>
    Effect.gen(function*() {
      const once = () =>
        Effect.gen(function*() {
          const task = yield* CurrentTask.CurrentTask
          const both = [task.elicit("a", confirm), task.elicit("b", confirm)]
          return yield* Effect.orDie(Effect.all(both, { concurrency: "unbounded" }))
        })
      const process = yield* start({ once })
      const taskId = yield* call(process, "once")
      const open = Effect.map(get(process, taskId), ({ inputRequests }) =>
        Object.keys(inputRequests ?? {}).toSorted().join())
      yield* until("both are asked", Effect.map(open, (keys) => keys === "a,b"))
      for (const [fits, misfits] of [["a", "b"], ["b", "a"]] as const) {
        const responses = { [fits]: accept.confirm, [misfits]: { action: "accept", content: { overwrite: "yes" } } }
        const refusal = yield* Effect.flip(process.engine.answer(owner, taskId, responses))
        assert.strictEqual(refusal._tag, "InvalidAnswer")
        assert.strictEqual(yield* open, "a,b")
      }
      yield* process.engine.answer(owner, taskId, { a: { action: "decline" }, b: accept.confirm })
      const { structuredContent } = (yield* becomes(process, taskId, "completed")).result
      assert.deepStrictEqual(structuredContent, [{ action: "decline" }, accept.confirm])
    }))
]
