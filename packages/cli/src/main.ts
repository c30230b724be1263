/**
 * `mcp-tasks`: long tools of MCP servers, from a shell.
 *
 * Results go to the standard output, everything else to the standard error. With `--json`, so is every line that is
 * written there a JSON document. Exit codes: see `CliFailure.ExitCode`.
 *
 * @since 0.2.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import * as CliFailure from "./CliFailure.ts"
import * as client from "./commands/client.ts"
import { serve } from "./commands/serve.ts"
import { tasks } from "./commands/tasks.ts"
import * as Output from "./Output.ts"
import * as Terminals from "./Terminals.ts"

/** Whether the command was asked to speak JSON, be the rest of its line right or not. */
const isJson = Effect.map(
  Effect.flatMap(Stdio.Stdio, ({ args }) => args),
  (args) => args.slice(0, args.includes("--") ? args.indexOf("--") : undefined).includes("--json")
)

/** Says why a command cannot be run, and where it is written how it can. */
const presenter = (asJson: boolean) =>
  CliOutput.layerPresenter({
    present: (event) => {
      if (event._tag !== "InvalidInvocation") return CliOutput.defaultPresenter.present(event)
      const { commandPath, errors } = event
      const hint = `\`${commandPath.join(" ")} --help\` says what there is`
      return Output.failure(CliFailure.usage(errors.map(({ message }) => message).join("\n"), hint), asJson)
    }
  })

const logger = (asJson: boolean) =>
  Logger.layer([
    Logger.withConsoleError(
      asJson
        ? Logger.map(Logger.formatStructured, (entry) => Output.jsonText(entry))
        : Logger.map(Logger.formatLogFmt, Output.plain)
    )
  ])

/** What went wrong, if it is not said yet: a fault of ours is told as one, with its stack. */
const unsaid = (cause: Cause.Cause<unknown>): CliFailure.CliFailure | undefined => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof CliFailure.CliFailure) return error
  // Its errors have been presented, and an interruption is what was wanted.
  if (CliError.isCliError(error) || Cause.hasInterruptsOnly(cause)) return undefined
  return CliFailure.usage(`A fault of mcp-tasks itself: ${Cause.pretty(cause)}`, "Please report it, with these lines")
}

const program = Effect.gen(function*() {
  const asJson = yield* isJson
  yield* Command.make("mcp-tasks").pipe(
    Command.withDescription("Call long tools of MCP servers, and look after their tasks"),
    Command.withSubcommands([...client.all, serve, tasks]),
    Command.run({ version: "0.1.0" }),
    Effect.tapCause((cause) => {
      const failure = unsaid(cause)
      return failure === undefined ? Effect.void : Output.failure(failure, asJson)
    }),
    Effect.provide(Layer.mergeAll(Terminals.layer, presenter(asJson), logger(asJson)))
  )
})

program.pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
