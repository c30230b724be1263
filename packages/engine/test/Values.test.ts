/** Values that say how long they are, list millions of keys, or never end: refused before anything enumerates them. */
import { CurrentTask, TaskLimits, TaskStore, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Result, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import * as brief from "../src/internal/brief.ts"
import * as jsonText from "../src/internal/jsonText.ts"
import * as weight from "../src/internal/weight.ts"
import { call, get, settle, start } from "./TestTools.ts"

const quiet = Logger.layer([])

/** Runs something, and tells of how many objects the keys were listed, and how often a list of bytes was made. */
const listings = <A>(run: () => A): { readonly value: A; readonly listed: number } => {
  const { keys } = Object
  const { stringify } = JSON
  const bytes = Buffer.prototype.toJSON
  let listed = 0
  Object.keys = (of: object) => {
    listed++
    return keys(of)
  }
  // Lists the keys of what it writes, but out of sight.
  JSON.stringify = ((...of: Parameters<typeof stringify>) => {
    listed++
    return stringify(...of)
  }) as typeof stringify
  Buffer.prototype.toJSON = function() {
    listed++
    return bytes.call(this)
  }
  try {
    return { value: run(), listed }
  } finally {
    Object.keys = keys
    JSON.stringify = stringify
    Buffer.prototype.toJSON = bytes
  }
}

const bounds = { maxLength: 1_000, maxDepth: 64 }

const long: ReadonlyArray<readonly [name: string, value: object]> = [
  ["bytes", new Uint8Array(1_000)],
  ["numbers", new Float64Array(1_000)],
  ["big integers", new BigInt64Array(1_000)],
  ["a subclass of them", new (class Mine extends Int32Array {})(1_000)],
  ["a text in an object", new String("x".repeat(1_000))],
  ["an array", Array.from({ length: 501 })],
  ["an array with holes", Object.assign([], { length: 4_294_967_295 })]
]

describe("what says that it is too long", () => {
  for (const [name, value] of long) {
    it(`is not listed: ${name}`, () => {
      const { listed, value: text } = listings(() => jsonText.encode(value, bounds))
      assert.deepStrictEqual(text, Result.fail({ reason: "it is longer than 1000 characters" }))
      assert.strictEqual(listed, 0)
    })
  }

  it("nor is its own toJSON called, where that makes a list of it", () => {
    const { listed, value: text } = listings(() => jsonText.encode(Buffer.alloc(500), bounds))
    assert.isTrue(Result.isFailure(text))
    assert.strictEqual(listed, 0)
  })

  it("is what a toJSON has given, too", () => {
    const text = jsonText.encode({ toJSON: () => new Uint8Array(1_000_000) }, bounds)
    assert.deepStrictEqual(text, Result.fail({ reason: "it is longer than 1000 characters" }))
  })

  it("is never what is short enough", () => {
    const values: ReadonlyArray<object> = [
      ...[0, 1, 9, 10, 11, 99, 100, 101, 1_234].flatMap((length) => [
        new Uint8Array(length),
        Buffer.alloc(length),
        Array.from({ length }),
        new String("x".repeat(length)),
        { a: new Uint8Array(length), b: new Float32Array(length) }
      ]),
      new (class Short extends Uint8Array {
        toJSON = () => "short"
      })(1_000),
      Object.assign(new String("x".repeat(1_000)), { toString: () => "y" }),
      new DataView(new ArrayBuffer(1_000)),
      new Map([["x".repeat(100), 1]])
    ]
    for (const value of values) {
      const text = JSON.stringify(value)
      assert.deepStrictEqual(jsonText.encode(value, { ...bounds, maxLength: text.length }), Result.succeed(text))
    }
  })
})

/** An object of so many members, which counts how many of them are looked at. */
const wide = (count: number, member: unknown) => {
  const seen = { visits: 0, lists: 0 }
  const value = new Proxy({}, {
    ownKeys: () => {
      seen.lists++
      return Array.from({ length: count }, (_, at) => `k${at}`)
    },
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: member }),
    get: (_, name) => {
      if (typeof name !== "string" || name === "toJSON") return undefined
      seen.visits++
      return member
    }
  })
  return { seen, value }
}

describe("an object of many members", () => {
  for (const [name, member, reason] of [
    ["that are written", 1, "it is longer than 1000 characters"],
    ["that are left out", undefined, "it has more than 200 members"]
  ] as const) {
    it(`${name} is listed once, and looked into as far as the bound`, () => {
      const { seen, value } = wide(10_000, member)
      assert.deepStrictEqual(jsonText.encode(value, bounds), Result.fail({ reason }))
      assert.strictEqual(seen.lists, 1)
      assert.isAtMost(seen.visits, 201)
    })
  }
})

/** An object in an object, and so on for ever. It gives up after many, so that a test that fails ends. */
const endless = () => {
  let visits = 0
  const made = (): object =>
    new Proxy({}, {
      ownKeys: () => ["a"],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
      get: (_, name) => {
        if (typeof name !== "string" || name !== "a") return undefined
        visits++
        return visits > 10_000 ? assert.fail("it was followed without end") : made()
      }
    })
  return made()
}

interface Tree {
  readonly a: Tree
}
const Tree = Schema.Struct({ a: Schema.suspend((): Schema.Codec<Tree> => Tree) })

const ways: Readonly<Record<string, (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, unknown>>> = {
  "step s": (task) => task.step("s", Schema.Unknown, Effect.sync(endless)),
  "step json": (task) => task.step("json", Schema.Json, Effect.sync(endless as () => Schema.Json)),
  "step named": (task) =>
    task.step("named", Schema.Json.annotate({ title: "Any" }), Effect.sync(endless as () => Schema.Json)),
  "step part": (task) =>
    task.step("part", Schema.Struct({ of: Schema.Unknown }), Effect.sync(() => ({ of: endless() }))),
  "step tree": (task) => task.step("tree", Tree, Effect.sync(endless as () => Tree)),
  "question e": (task) => task.elicit("e", { message: endless() as unknown as string, schema: Schema.Struct({}) }),
  "question m": (task) =>
    task.sample("m", {
      messages: [{ role: "user", content: { type: "text", text: "t" } }],
      maxTokens: 1,
      metadata: endless() as Schema.JsonObject
    })
}

const failure = (run: (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, unknown>, log = quiet) =>
  Effect.gen(function*() {
    const process = yield* start({ once: () => Effect.orDie(Effect.flatMap(CurrentTask.CurrentTask, run)) })
    const taskId = yield* call(process, "once", "", { elicitation: { form: {} }, sampling: {} })
    yield* settle
    const ended = yield* get(process, taskId)
    return ended.status === "failed" ? ended.error : assert.fail(`it is ${ended.status}`)
  }).pipe(Effect.provide([Layer.fresh(TaskStore.layerMemory), log]))

describe("what never ends", () => {
  for (const [what, run] of Object.entries(ways)) {
    it.effect(`is refused by its depth: ${what}`, () =>
      Effect.gen(function*() {
        const { message } = yield* failure(run)
        assert.strictEqual(message, `The ${what} was refused: it is nested deeper than 64 levels`)
      }))
  }

  const schemas: ReadonlyArray<Schema.Top> = [Schema.Unknown, Schema.Json, Schema.Struct({ a: Schema.Json }), Tree]
  for (const schema of schemas) {
    for (const kind of ["success", "failure", "returned failure"] as const) {
      it.effect(`is refused by its depth: a ${kind} of ${schema.ast._tag}`, () =>
        Effect.gen(function*() {
          const tool = Tool.make("any", {
            parameters: Schema.Struct({}),
            success: kind === "success" ? schema : Schema.String,
            failure: kind === "success" ? Schema.Never : schema,
            failureMode: kind === "returned failure" ? "return" : "error"
          })
          const kit = Toolkit.make(tool)
          const value = endless()
          const ended = kind === "failure" ? Effect.fail(value) : Effect.succeed(value)
          const layer = TaskTools.layer(kit).pipe(
            Layer.provide(kit.toLayer({ any: () => ended } as never) as unknown as Layer.Layer<never>),
            Layer.provide(TaskLimits.layer({ maxJsonDepth: 64 }))
          ) as unknown as Layer.Layer<TaskTools.TaskTools>
          const tools = yield* Effect.provide(TaskTools.TaskTools, layer)
          const result = yield* Result.getOrThrow(yield* Option.getOrThrow(tools.get("any")).call({})).run
          const message = "The tool's result was refused: it is nested deeper than 64 levels"
          assert.deepStrictEqual(result, { _tag: "Error", error: { code: -32603, message } })
        }).pipe(Effect.provide(quiet)))
    }
  }

  it("is a word in the log", () => {
    const said = brief.value(new Error("x", { cause: { of: endless() } }))
    assert.strictEqual(String(said), "Error: Error: x (too long for the log)")
  })
})

describe("a protocol error", () => {
  const circle: Array<unknown> = []
  circle.push(circle)
  const data: ReadonlyArray<readonly [string, unknown, RegExp]> = [
    ["too much of it", ["x".repeat(9_000_000)], /is left out: it is longer than 8388608 characters/],
    ["a circle", circle, /is left out: it (is nested deeper than|cannot be carried by JSON)/],
    ["a BigInt", { n: 1n }, /is left out: it cannot be carried by JSON/],
    ["a getter that throws", { get it() { throw new Error("x") } }, /is left out: it cannot be carried by JSON/]
  ]
  const told = (error: () => TaskTool.ProtocolError) =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const logger = Logger.make(({ message }) => {
        logs.push(Array.isArray(message) ? String(message[0]) : String(message))
      })
      return { error: yield* failure(error, Logger.layer([logger])), logs: logs.join() }
    })

  for (const [name, given, words] of data) {
    it.effect(`keeps its code and its message, and the log says why without its data: ${name}`, () =>
      Effect.gen(function*() {
        const { error, logs } = yield* told(() =>
          new TaskTool.ProtocolError({ code: 4001, message: "no", data: given as never })
        )
        assert.deepStrictEqual(error, { code: 4001, message: "no" })
        assert.match(logs, words)
      }))
  }

  for (const code of [1.5, Number.NaN, 2 ** 60]) {
    it.effect(`keeps its message and its data under -32603 where its code is no integer: ${code}`, () =>
      Effect.gen(function*() {
        const { error, logs } = yield* told(() => new TaskTool.ProtocolError({ code, message: "no", data: [1] }))
        assert.deepStrictEqual(error, { code: -32603, message: "no", data: [1] })
        assert.include(logs, `code ${code}, which is no integer within ±(2^53 - 1)`)
      }))
  }

  it.effect("with a message that is too long is refused", () =>
    Effect.gen(function*() {
      const error = yield* failure(() => new TaskTool.ProtocolError({ code: 4001, message: "x".repeat(9_000_000) }))
      const message = "The tool's error was refused: it is longer than 8388608 characters"
      assert.deepStrictEqual(error, { code: -32603, message })
    }))
})

describe("the log", () => {
  it("has no map and no set that is long", () => {
    const numbers = Array.from({ length: 100_000 }, (_, at) => at)
    for (const value of [new Map(numbers.map((at) => [at, at])), { of: new Set(numbers) }]) {
      assert.match(String(brief.value(value)), /too long for the log/)
    }
    assert.instanceOf(brief.value(new Map([[1, 2]])), Map)
  })

  it("has nothing of bytes that nobody lists", () => {
    const error = Object.assign(new Error("x"), { body: Buffer.alloc(50_000) })
    const { listed, value } = listings(() => brief.value(error))
    assert.strictEqual(String(value), "Error: Error: x (too long for the log)")
    // Of the error, and not of what it holds.
    assert.isAtMost(listed, 1)
  })
})

describe("the name of a step", () => {
  for (const name of ["", "k".repeat(257), "k".repeat(1_000_000)]) {
    it.effect(`of ${name.length} characters is refused in a sentence`, () =>
      Effect.gen(function*() {
        const { message } = yield* failure((task) => task.step(name, Schema.Int, Effect.succeed(1)))
        assert.strictEqual(message, "The tool took a step whose name is not 1 to 256 characters long")
      }))
  }
})

const form = (message: string): CurrentTask.Form<object, object> => ({ message, schema: Schema.Struct({}) })

const refusals: Readonly<Record<string, (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, unknown>>> = {
  "it took more than 1000 steps": (task) =>
    Effect.forEach(
      Array.from({ length: 1_001 }, (_, at) => at),
      (at) => task.step(`s${at}`, Schema.Int, Effect.succeed(at))
    ),
  "it asked more than 100 questions": (task) =>
    Effect.forEach(
      Array.from({ length: 101 }, (_, at) => at),
      (at) => task.elicit(`k${at}`, form("m")),
      { concurrency: "unbounded" }
    ),
  "it used the key q for another question before": (task) =>
    Effect.all([task.elicit("q", form("a")), task.elicit("q", form("b"))], { concurrency: 2 }),
  "it used the name s for another step before": (task) =>
    Effect.all([
      task.step("s", Schema.Int, Effect.as(Effect.yieldNow, 1)),
      task.step("s", Schema.Int, Effect.as(Effect.yieldNow, 2))
    ], { concurrency: 2 })
}

describe("a handler that breaks a rule of its task", () => {
  for (const [says, run] of Object.entries(refusals)) {
    it.effect(`ends it with a sentence: ${says}`, () =>
      Effect.gen(function*() {
        const error = yield* failure(run)
        assert.deepStrictEqual(error, { code: -32603, message: `The tool was stopped: ${says}` })
      }))
  }
})

describe("a hundred questions at once, and one more", () => {
  it.effect("are a write each, and one that ends the task", () =>
    Effect.gen(function*() {
      const store = yield* TaskStore.TaskStore
      let writes = 0
      const counting = TaskStore.TaskStore.of({
        ...store,
        // Lets the others come in between, as a store on a disk does.
        replace: (stored, next) =>
          Effect.suspend(() => {
            writes++
            return Effect.andThen(Effect.yieldNow, store.replace(stored, next))
          })
      })
      const asked = Array.from({ length: 101 }, (_, at) => `k${at}`)
      const all = Effect.flatMap(CurrentTask.CurrentTask, (task) =>
        Effect.forEach(asked, (key) => task.elicit(key, form("m")), { concurrency: "unbounded" }))
      const started = start({ once: () => Effect.orDie(all) })
      const process = yield* Effect.provideService(started, TaskStore.TaskStore, counting)
      const taskId = yield* call(process, "once", "", { elicitation: { form: {} } })
      for (let turn = 0; turn < 20; turn++) yield* settle
      assert.strictEqual((yield* get(process, taskId)).status, "failed")
      // The start, the questions, and the end; and that the handler has ended where the task had.
      assert.isAtMost(writes, 103)
    }).pipe(Effect.provide([Layer.fresh(TaskStore.layerMemory), quiet])))
})

describe("what is counted of numbered members", () => {
  it("is what JSON writes at the least", () => {
    for (const length of [1, 10, 11, 100, 101, 1_000]) {
      assert.strictEqual(weight.least(new Uint8Array(length)), JSON.stringify(new Uint8Array(length)).length - 1)
    }
  })
})
