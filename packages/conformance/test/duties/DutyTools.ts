/** The tools of the server that duties are tried on: what one does is what its `text` says. */
import { CurrentTask, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const parameters = Schema.Struct({ text: Schema.String })
const failure = Schema.Union([Schema.String, TaskTool.ProtocolError, CurrentTask.InputUnavailable])
const policy = { ttl: "1 minute", resultTtl: "10 seconds", pollInterval: "1 second" } as const

const Plain = Tool.make("plain", { description: "Answers at once", parameters, success: Schema.String, failure })

const Job = Tool.make("job", { description: "Works as a task", parameters, success: Schema.String, failure })
  .annotate(TaskTool.Policy, policy)

const Strict = Tool.make("strict", { description: "Works as a task only", parameters, success: Schema.String, failure })
  .annotate(TaskTool.Policy, { ...policy, undeclared: "reject" })

const Typed = Tool.make("typed", {
  description: "Adds one to an amount",
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.Struct({ total: Schema.Int, note: Schema.optionalKey(Schema.String) })
}).annotate(TaskTool.Policy, policy)

const Routed = Tool.make("routed", {
  description: "Says where it was routed to",
  parameters: Schema.Struct({
    region: Schema.String.annotate({ "x-mcp-header": "Region" }),
    shard: Schema.optionalKey(Schema.Union([Schema.Int, Schema.Null]))
  }),
  success: Schema.String
})

const First = Tool.make("first", {
  description: "Asks, then works as a task",
  parameters,
  success: Schema.String,
  failure
}).annotate(TaskTool.Policy, policy)

const Shape = Tool.make("shape", {
  description: "Answers with something as long or as deep as it is told, or does something as often",
  parameters: Schema.Struct({ what: Schema.String, size: Schema.Int }),
  success: Schema.Unknown,
  failure
}).annotate(TaskTool.Policy, policy)

const toolkit = Toolkit.make(Plain, Job, Strict, Typed, Routed, First, Shape)

const form = { message: "Which name?", schema: Schema.Struct({ name: Schema.String }) }

const ask = (key: string) =>
  Effect.flatMap(CurrentTask.CurrentTask, (task) =>
    Effect.map(task.elicit(key, form), (answer) => JSON.stringify(answer)))

const asking = (question: (task: CurrentTask.TaskHandle) => Effect.Effect<unknown, CurrentTask.InputUnavailable>) =>
  Effect.map(Effect.flatMap(CurrentTask.CurrentTask, question), (answer) => JSON.stringify(answer))

const hello = { role: "user", content: { type: "text", text: "Hello?" } } as const

const logEverything = Effect.all([
  Effect.logDebug("a line of the log"),
  Effect.logInfo("a line of the log"),
  Effect.logWarning("a line of the log"),
  Effect.logError("a line of the log")
])

type Answer = Effect.Effect<string, typeof failure.Type>

const scripts: Readonly<Record<string, Answer>> = {
  wait: Effect.never,
  sleep: Effect.delay(Effect.succeed("slept"), "3 seconds"),
  stubborn: Effect.uninterruptible(Effect.delay(Effect.succeed("finished"), "3 seconds")),
  fail: Effect.fail("It did not work"),
  break: new TaskTool.ProtocolError({ code: -32603, message: "The upstream broke", data: { why: "test" } }),
  reserved: new TaskTool.ProtocolError({ code: -32050, message: "Under a code of the protocol's own" }),
  die: Effect.die(new Error("secret of the handler")),
  log: Effect.as(logEverything, "logged"),
  report: Effect.flatMap(CurrentTask.CurrentTask, (task) => Effect.andThen(task.report("halfway"), Effect.never)),
  ask: ask("name"),
  progress: Effect.flatMap(CurrentTask.CurrentTask, ({ report }) =>
    Effect.as(Effect.forEach([0, 50, 50, 20, 100], (done) => report(`${done} %`, { done, total: 100 })), "done")),
  "ask url": asking((task) => task.elicitUrl("url", { message: "Sign in", url: "https://page.example/sign-in" })),
  "ask model": asking((task) => task.sample("model", { messages: [hello], maxTokens: 5 })),
  "ask roots": asking((task) => task.listRoots("roots")),
  "ask two": Effect.map(Effect.all([ask("one"), ask("two")], { concurrency: "unbounded" }), (all) => all.join(" ")),
  "ask twice": Effect.map(Effect.all([ask("one"), ask("two")]), (all) => all.join(" ")),
  "ask the same": Effect.flatMap(CurrentTask.CurrentTask, (task) =>
    Effect.andThen(
      task.elicit("name", form),
      task.elicit("name", { ...form, message: "Another question?" })
    )).pipe(Effect.as("asked")),
  withdraw: Effect.andThen(Effect.timeoutOption(ask("name"), "1 second"), Effect.never)
}

const run = ({ text }: { readonly text: string }): Answer =>
  Object.hasOwn(scripts, text) ? scripts[text] ?? Effect.never : Effect.succeed(text)

const nested = (levels: number): unknown => {
  let value: ReadonlyArray<unknown> = []
  for (let level = 1; level < levels; level++) value = [value]
  return value
}

const each = <A, E>(times: number, run: (key: string) => Effect.Effect<A, E>) =>
  Effect.forEach(Array.from({ length: times }, (_, index) => `${index}`), run, { discard: true })

const shape = ({ size, what }: { readonly what: string; readonly size: number }) =>
  Effect.flatMap(CurrentTask.CurrentTask, (task): Effect.Effect<unknown, CurrentTask.InputUnavailable> => {
    switch (what) {
      case "length":
        return Effect.succeed("x".repeat(size))
      case "depth":
        return Effect.succeed(nested(size))
      case "questions":
        return each(size, (key) => task.elicit(key, form))
      case "question":
        return task.elicit("long", { ...form, message: "x".repeat(size) })
      case "steps":
        return each(size, (name) => task.step(name, Schema.String, Effect.succeed("done")))
      case "step":
        return task.step("long", Schema.String, Effect.succeed("x".repeat(size)))
      case "report":
        return Effect.andThen(task.report("x".repeat(size)), Effect.never)
      default:
        return Effect.andThen(task.extend(size), Effect.never)
    }
  })

/** The tools, ready to be served. */
export const layer = TaskTools.layer(toolkit).pipe(
  Layer.provide(toolkit.toLayer({
    plain: run,
    job: run,
    strict: run,
    typed: ({ amount }) => Effect.succeed({ total: amount + 1 }),
    routed: ({ region }) => Effect.succeed(region),
    shape,
    first: TaskTool.askFirst(
      () => ask("name"),
      ({ text }, answer) => text === "" ? Effect.succeed(answer) : run({ text })
    )
  }))
)
