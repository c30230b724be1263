/** The tools of the server that duties are tried on: what one does is what its `text` says. */
import { CurrentTask, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const parameters = Schema.Struct({ text: Schema.String })
const failure = Schema.Union([Schema.String, TaskTool.ProtocolError])
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

const toolkit = Toolkit.make(Plain, Job, Strict, Typed, Routed)

const form = { message: "Which name?", schema: Schema.Struct({ name: Schema.String }) }

const ask = (key: string) =>
  Effect.flatMap(CurrentTask.CurrentTask, (task) =>
    Effect.map(Effect.orDie(task.elicit(key, form)), (answer) => JSON.stringify(answer)))

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
  die: Effect.die(new Error("secret of the handler")),
  log: Effect.as(logEverything, "logged"),
  report: Effect.flatMap(CurrentTask.CurrentTask, (task) => Effect.andThen(task.report("halfway"), Effect.never)),
  ask: ask("name"),
  "ask two": Effect.map(Effect.all([ask("one"), ask("two")], { concurrency: "unbounded" }), (all) => all.join(" ")),
  "ask twice": Effect.map(Effect.all([ask("one"), ask("two")]), (all) => all.join(" ")),
  "ask the same": Effect.flatMap(CurrentTask.CurrentTask, (task) =>
    Effect.orDie(Effect.andThen(
      task.elicit("name", form),
      task.elicit("name", { ...form, message: "Another question?" })
    ))).pipe(Effect.as("asked")),
  withdraw: Effect.andThen(Effect.timeoutOption(ask("name"), "1 second"), Effect.never)
}

const run = ({ text }: { readonly text: string }): Answer =>
  Object.hasOwn(scripts, text) ? scripts[text] ?? Effect.never : Effect.succeed(text)

/** The tools, ready to be served. */
export const layer = TaskTools.layer(toolkit).pipe(
  Layer.provide(toolkit.toLayer({
    plain: run,
    job: run,
    strict: run,
    typed: ({ amount }) => Effect.succeed({ total: amount + 1 }),
    routed: ({ region }) => Effect.succeed(region)
  }))
)
