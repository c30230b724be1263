import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { chmodSync, linkSync, mkdirSync, unlinkSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { nobody, runChild, startChild } from "./ChildProcess.ts"
import * as TempDatabase from "./TempDatabase.ts"

describe("exclusive", () => {
  const busyTimeout = "20 millis"

  it.effect("keeps a second one out, says why, and lets it in once the first is gone", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const first = yield* Scope.make()
      yield* Scope.provide(TempDatabase.client({ filename, exclusive: true }), first)
      const failure = yield* Effect.flip(TempDatabase.client({ filename, exclusive: true, busyTimeout }))
      assert.strictEqual(failure.reason._tag, "LockTimeoutError")
      assert.include(failure.message, `${filename} is kept by another process`)
      // A failed attempt must not have let the first one's lock go.
      yield* Effect.flip(TempDatabase.client({ filename, exclusive: true, busyTimeout }))
      yield* Scope.close(first, Exit.void)
      yield* TempDatabase.client({ filename, exclusive: true, busyTimeout })
    }))

  it.effect("lets those that do not ask for it read and write", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const keeper = yield* TempDatabase.client({ filename, exclusive: true })
      const visitor = yield* TempDatabase.client({ filename })
      yield* visitor`CREATE TABLE t (x)`
      yield* keeper`INSERT INTO t VALUES (1)`
      assert.deepStrictEqual(yield* visitor`SELECT x FROM t`, [{ x: 1 }])
    }))

  it.effect("waits for one that is going, for the busy timeout", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const first = yield* Scope.make()
      yield* Scope.provide(TempDatabase.client({ filename, exclusive: true }), first)
      const opening = yield* Effect.forkScoped(
        TempDatabase.client({ filename, exclusive: true }),
        { startImmediately: true }
      )
      assert.isUndefined(opening.pollUnsafe())
      yield* Scope.close(first, Exit.void)
      yield* Fiber.join(opening)
    }))

  it.live("ends with its process, however that ends", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const holder = yield* startChild("holdExclusive.ts", [filename])
      yield* Effect.flip(TempDatabase.client({ filename, exclusive: true, busyTimeout }))
      yield* holder.kill
      yield* TempDatabase.client({ filename, exclusive: true })
    }))

  it.effect("is refused where its lock may not be written: SQLite would lock nothing", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      chmodSync(dirname(filename), 0o777)
      writeFileSync(`${filename}-lock`, "")
      chmodSync(`${filename}-lock`, 0o444)
      const { code, output } = yield* runChild("open.ts", [filename, "exclusive"], nobody)
      assert.strictEqual(code, 1, output)
      assert.include(output, `${filename}-lock may not be written`)
    }))

  it.effect("that cannot be had for another reason is not blamed on another process", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      mkdirSync(`${filename}-lock`)
      const failure = yield* Effect.flip(TempDatabase.client({ filename, exclusive: true, busyTimeout }))
      assert.include(failure.message, `${filename}-lock, by which`)
      assert.notInclude(failure.message, "another process")
    }))

  it.effect("is refused where the file has another name", () =>
    Effect.gen(function*() {
      const filename = yield* TempDatabase.file
      const first = yield* Scope.make()
      yield* Scope.provide(TempDatabase.client({ filename }), first)
      linkSync(filename, `${filename}.link`)
      for (const name of [filename, `${filename}.link`]) {
        const failure = yield* Effect.flip(TempDatabase.client({ filename: name, exclusive: true, busyTimeout }))
        assert.include(failure.message, "has 2 names (hard links)")
        assert.include(failure.message, name)
      }
      unlinkSync(`${filename}.link`)
      yield* TempDatabase.client({ filename, exclusive: true, busyTimeout })
      yield* Scope.close(first, Exit.void)
    }))

  it.effect("needs nothing in memory", () =>
    Effect.gen(function*() {
      yield* TempDatabase.client({ filename: ":memory:", exclusive: true })
      yield* TempDatabase.client({ filename: ":memory:", exclusive: true, busyTimeout })
    }))
})
