/**
 * The demo's narrator: drives one task at a time, prints every exchange, and notices at once when one is not as it
 * should be.
 *
 * @since 0.1.0
 */
import type { TaskStatus } from "@effect-mcp-tasks/core/Task"
import * as TaskWire from "@effect-mcp-tasks/core/TaskWire"
import { Console, Effect, Schema } from "effect"
import type { Answer, DemoClient } from "./DemoClient.ts"

/**
 * Something did not happen as the demo says it does.
 *
 * @since 0.1.0
 */
export class Surprise extends Schema.TaggedError<Surprise>()("Surprise", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `Expected ${this.expected}, found ${this.found}`
  }
}

/**
 * Fails with a `Surprise` unless `holds`.
 *
 * @since 0.1.0
 */
export const check = (holds: boolean, expected: string, found: unknown): Effect.Effect<void, Surprise> =>
  holds ? Effect.void : Effect.fail(new Surprise({ expected, found: JSON.stringify(found) }))

/**
 * Prints one exchange.
 *
 * @since 0.1.0
 */
export const tell = (method: string, told: string): Effect.Effect<void> =>
  Console.log(`  ${method.padEnd(12)} ${told}`.trimEnd())

/**
 * Prints what the following exchanges are about.
 *
 * @since 0.1.0
 */
export const chapter = (title: string): Effect.Effect<void> => Console.log(`\n${title}`)

const resultOf = (answer: Answer): Effect.Effect<Schema.JsonObject, Surprise> =>
  "result" in answer
    ? Effect.succeed(answer.result)
    : Effect.fail(new Surprise({ expected: "a result", found: JSON.stringify(answer.error) }))

const decode = <A>(schema: Schema.Codec<A, unknown>) => (answer: Answer) =>
  Effect.flatMap(resultOf(answer), (result) =>
    Effect.mapError(
      Schema.decodeEffect(schema)(result),
      (error) => new Surprise({ expected: error.message, found: JSON.stringify(result) })
    ))

/**
 * The text of a `CallToolResult`.
 *
 * @since 0.1.0
 */
export const textOf = (result: Schema.JsonObject): string =>
  Schema.decodeUnknownSync(Schema.Struct({ content: Schema.Tuple([Schema.Struct({ text: Schema.String })]) }))(result)
    .content[0].text

/**
 * Calls a tool, which must answer with a task, and gives back its id.
 *
 * @since 0.1.0
 */
export const create = Effect.fnUntraced(function*(client: DemoClient, tool: string, args: Schema.JsonObject) {
  const task = yield* Effect.flatMap(client.callTool(tool, args), decode(TaskWire.CreateTaskResult))
  yield* check(task.status === "working", "working", task)
  yield* tell("tools/call", `${tool} ${JSON.stringify(args)}: task ...${task.taskId.slice(-8)}, ${task.status}`)
  return task.taskId
})

const describe = (task: TaskWire.DetailedTask): string => {
  switch (task.status) {
    case "working":
      return task.statusMessage ?? ""
    case "input_required":
      return Object.entries(task.inputRequests)
        .map(([key, { params }]) => `${key}: ${params?.["message"]}`)
        .join("; ")
    case "completed":
      return `${textOf(task.result)}${task.result["isError"] === true ? " (isError)" : ""}`
    case "failed":
      return `${task.error.code} ${task.error.message}`
    case "cancelled":
      return ""
  }
}

/**
 * Asks once how a task is.
 *
 * @since 0.1.0
 */
export const poll = Effect.fnUntraced(function*(client: DemoClient, taskId: string) {
  const task = yield* Effect.flatMap(client.getTask(taskId), decode(TaskWire.GetTaskResult))
  yield* tell("tasks/get", `${task.status.padEnd(14)} ${describe(task)}`)
  return task
})

const hasStatus = <T extends { readonly status: TaskStatus }, S extends TaskStatus>(
  task: T,
  status: S
): task is Extract<T, { readonly status: S }> => task.status === status

/**
 * Polls as often as the server wishes until the task no longer works, and expects it to be in a certain status then.
 *
 * @since 0.1.0
 */
export const pollUntil = Effect.fnUntraced(function*<S extends TaskStatus>(
  client: DemoClient,
  taskId: string,
  status: S
) {
  while (true) {
    const task = yield* poll(client, taskId)
    if (hasStatus(task, status)) return task
    yield* check(task.status === "working", status, task)
    yield* Effect.sleep(task.pollIntervalMs ?? 1000)
  }
})

/**
 * Answers the question under a key.
 *
 * @since 0.1.0
 */
export const answer = Effect.fnUntraced(function*(
  client: DemoClient,
  taskId: string,
  key: string,
  response: Schema.JsonObject
) {
  yield* Effect.flatMap(client.updateTask(taskId, { [key]: response }), resultOf)
  yield* tell("tasks/update", `${key}: ${JSON.stringify(response)}`)
})

/**
 * Asks a task to stop.
 *
 * @since 0.1.0
 */
export const cancel = Effect.fnUntraced(function*(client: DemoClient, taskId: string) {
  yield* Effect.flatMap(client.cancelTask(taskId), resultOf)
  yield* tell("tasks/cancel", "acknowledged")
})
