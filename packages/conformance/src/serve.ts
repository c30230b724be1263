/**
 * Serves the fixtures of the official conformance suite until it is told to end.
 *
 * Over HTTP, the first line on standard output is JSON with the address of the endpoint, for programs that started it;
 * the second says the same for people. Over stdio there is nothing but messages, and the end of the input ends it.
 *
 * @since 0.1.0
 */
import * as Embedded from "@effect-mcp-tasks/engine/Embedded"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Dispatcher from "@effect-mcp-tasks/server/Dispatcher"
import * as HttpStartup from "@effect-mcp-tasks/server/HttpStartup"
import * as StdioTransport from "@effect-mcp-tasks/server/StdioTransport"
import * as ToolSwitch from "@effect-mcp-tasks/server/ToolSwitch"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Toolkit from "effect/ai/Toolkit"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as FixtureServer from "./FixtureServer.ts"
import * as FixtureStore from "./FixtureStore.ts"
import * as CoreFixtures from "./fixtures/CoreFixtures.ts"
import * as RoundFixtures from "./fixtures/RoundFixtures.ts"
import * as TaskFixtures from "./fixtures/TaskFixtures.ts"

const tools = Layer.provide(
  TaskTools.layer(Toolkit.merge(CoreFixtures.toolkit, RoundFixtures.toolkit, TaskFixtures.toolkit)),
  [CoreFixtures.layer, RoundFixtures.layer, TaskFixtures.layer]
).pipe(Layer.provide(ToolSwitch.layer))

const flags = {
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on; 0 takes a free one"),
    Flag.withDefault(3000)
  ),
  transport: Flag.Literals("transport", ["http", "stdio"]).pipe(
    Flag.withDescription("How clients reach it"),
    Flag.withDefault("http")
  ),
  store: Flag.Literals("store", FixtureStore.names).pipe(
    Flag.withDescription("Where tasks are kept"),
    Flag.withDefault("memory")
  ),
  file: Flag.String("file").pipe(
    Flag.withDescription("The SQLite database; without it tasks are lost when the server ends"),
    Flag.optional
  )
}

const announce = (store: FixtureStore.StoreName) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const url = yield* FixtureServer.url
    yield* Console.log(JSON.stringify({ url, store }))
    yield* Console.log(`Conformance fixtures on ${url}, tasks in ${store}`)
  }))

const overHttp = (port: number, store: FixtureStore.StoreName) =>
  Layer.provide(announce(store), FixtureServer.layer(port))

const overStdio = StdioTransport.layer().pipe(
  Layer.provide(Dispatcher.layer(FixtureServer.info)),
  Layer.provide([Embedded.layer, TaskOwner.layerAnonymous, ToolSwitch.layer])
)

const command = Command.make("conformance:serve", flags, Effect.fnUntraced(function*({ file, port, store, transport }) {
  const served = Layer.merge(tools, FixtureStore.layers[store]({ file: Option.getOrUndefined(file) }))
  return transport === "http"
    ? yield* HttpStartup.launch(Layer.provide(overHttp(port, store), served))
    : yield* StdioTransport.launch(Layer.provide(overStdio, served))
})).pipe(Command.withDescription("Serves the fixtures of the official conformance suite"))

/** To be told to end is how this program ends well. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

command.pipe(
  Command.run({ version: "0.1.0" }),
  Effect.provide(Layer.merge(NodeServices.layer, StdioTransport.layerLogger)),
  NodeRuntime.runMain({ teardown })
)
