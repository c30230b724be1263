/**
 * The client that the official suite tests: it does what the scenario in its environment asks for, against the server
 * that its last argument names.
 *
 * @since 0.1.0
 */
import * as InputHandler from "@effect-mcp-tasks/client/InputHandler"
import * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import type { TaskClientError } from "@effect-mcp-tasks/client/TaskClientError"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

type Client = TaskClient.TaskClient["Service"]

/** The suite asked for something that this program does not know. */
class UnknownScenario extends Schema.TaggedError<UnknownScenario>()("UnknownScenario", { name: Schema.String }) {}

const onInput = InputHandler.make({
  elicit: () => Effect.succeed({ action: "accept", content: { confirmed: true } }),
  sample: (_, question) => InputHandler.refuse(question, "there is no model here"),
  listRoots: () => Effect.succeed({ roots: [] })
})

const Context = Schema.fromJsonString(Schema.Struct({
  toolCalls: Schema.Array(Schema.Struct({ name: Schema.String, arguments: Schema.JsonObject }))
}))

const nameOf = (tool: Schema.JsonObject): string => String(tool["name"])

const listed = (result: Schema.JsonObject, key: string): ReadonlyArray<Schema.JsonObject> => {
  const items = result[key]
  return Array.isArray(items) ? items : []
}

const standardHeaders = Effect.fnUntraced(function*({ call, request, tools }: Client) {
  for (const tool of yield* tools) yield* call(nameOf(tool))
  for (const { uri = "" } of listed(yield* request("resources/list"), "resources")) {
    yield* request("resources/read", { uri })
  }
  for (const { name = "" } of listed(yield* request("prompts/list"), "prompts")) {
    yield* request("prompts/get", { name })
  }
})

/** All at once, so that what belongs to one call could get into another. */
const requestState = ({ call, tools }: Client) =>
  Effect.flatMap(tools, (all) =>
    Effect.forEach(all, (tool) => call(nameOf(tool), {}, { onInput }), { concurrency: "unbounded" }))

const customHeaders = Effect.fnUntraced(function*({ call }: Client) {
  const { toolCalls } = yield* Schema.decodeEffect(Context)(yield* Config.String("MCP_CONFORMANCE_CONTEXT"))
  for (const { arguments: args, name } of toolCalls) yield* call(name, args)
})

const preservation = Effect.fnUntraced(function*({ call, tools }: Client) {
  const focal = (yield* tools).find((tool) => nameOf(tool) === "json_schema_2020_12_tool")
  yield* call("json_schema_echo", { schema: focal?.["inputSchema"] ?? null })
})

type Failure = TaskClientError | Config.ConfigError | Schema.SchemaError | UnknownScenario

const play = (scenario: string, client: Client): Effect.Effect<unknown, Failure> => {
  const { call, discover, tools } = client
  switch (scenario) {
    case "tools_call":
      return call("add_numbers", { a: 5, b: 3 })
    case "request-metadata":
      return Effect.all([discover, tools, client.request("tools/list", {}, { onInput })])
    case "sep-2322-client-request-state":
      return requestState(client)
    case "http-standard-headers":
      return standardHeaders(client)
    case "http-custom-headers":
      return customHeaders(client)
    case "http-invalid-tool-headers":
      return Effect.flatMap(tools, (all) => Effect.forEach(all, (tool) => call(nameOf(tool), { region: "eu" })))
    case "json-schema-ref-no-deref":
      return tools
    case "json-schema-2020-12-preservation":
      return preservation(client)
    default:
      return Effect.fail(new UnknownScenario({ name: scenario }))
  }
}

const program = Effect.gen(function*() {
  const scenario = yield* Config.String("MCP_CONFORMANCE_SCENARIO")
  yield* play(scenario, yield* TaskClient.TaskClient)
})

program.pipe(
  Effect.provide(
    TaskClient.layerHttp({ name: "effect-mcp-tasks", version: "0.1.0", url: process.argv.at(-1) ?? "" }).pipe(
      Layer.provide(FetchHttpClient.layer)
    )
  ),
  NodeRuntime.runMain
)
