/**
 * The tool that `docs/guides/asking.md` writes, block by block. A test compares the two and runs it.
 *
 * @since 0.1.0
 */
import { CurrentTask, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { RequestState } from "@effect-mcp-tasks/server"
import { Config, Effect, Layer, Random, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const parameters = Schema.Struct({ to: Schema.NonEmptyString })

const BookTrip = Tool.make("book_trip", {
  description: "Books a trip by train, once its traveller has chosen and paid",
  parameters,
  success: Schema.String,
  failure: CurrentTask.InputUnavailable
}).annotate(TaskTool.Policy, { ttl: "1 day", recovery: "fail" })

const quote = (to: string) => Effect.map(Random.nextIntBetween(20, 90), (euros) => euros + to.length)

const Choice = Schema.Struct({
  train: Schema.Literals(["morning", "evening"]),
  seats: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))
})

const choose = Effect.fn("choose")(function*({ to }: typeof parameters.Type) {
  const task = yield* CurrentTask.CurrentTask
  const price = yield* task.step("price", Schema.Int, quote(to))
  return yield* task.elicit("choice", {
    message: `A seat to ${to} costs ${price} euros. Which train, and how many seats?`,
    schema: Choice
  })
})

type Chosen = CurrentTask.Elicited<typeof Choice.Type>

const book = Effect.fn("book")(function*({ to }: typeof parameters.Type, answer: Chosen) {
  if (answer.action !== "accept") return "Nothing was booked"
  const task = yield* CurrentTask.CurrentTask
  const order = yield* task.step("order", Schema.String, Effect.map(Random.nextInt, (code) => `order-${code}`))

  yield* task.report(`${order} waits for its payment`)
  const consent = yield* task.elicitUrl("payment", {
    message: `Pay for ${answer.content.seats} seats to ${to}`,
    url: `https://pay.example/${order}`
  })
  if (consent !== "accept") return `${order} was given up`

  yield* isPaid(order)
  return `${order}: ${answer.content.seats} seats to ${to}, ${answer.content.train} train`
})

const isPaid = (order: string) => Effect.delay(Effect.logDebug(`${order} is paid`), "2 seconds")

const Tools = Toolkit.make(BookTrip)

/** The tool, ready to be served. */
export const layer = TaskTools.layer(Tools).pipe(
  Layer.provide(Tools.toLayer({ book_trip: TaskTool.askFirst(choose, book) }))
)

/** The key that every replica of the server seals its states with, from the environment. */
export const state = Layer.unwrap(
  Effect.map(Config.Redacted("REQUEST_STATE_KEY"), (key) => RequestState.layer({ keys: [key] }))
)
