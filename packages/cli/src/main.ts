/**
 * `mcp-tasks`: long tools of MCP servers, from a shell.
 *
 * Results go to the standard output, everything else to the standard error. Exit codes: see `CliFailure.ExitCode`.
 *
 * @since 0.2.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stdio from "effect/Stdio"
import * as CliFailure from "./CliFailure.ts"
import * as client from "./commands/client.ts"
import { serve } from "./commands/serve.ts"
import { tasks } from "./commands/tasks.ts"
import * as Output from "./Output.ts"

/** Says what went wrong, in the form that the command was asked to speak in. */
const tell = ({ error, exitCode, hint, message, taskId }: CliFailure.CliFailure) =>
  Effect.flatMap(Stdio.Stdio, (stdio) =>
    Effect.flatMap(stdio.args, (args) =>
      Console.error(
        args.includes("--json")
          ? JSON.stringify({ message, exitCode, hint, taskId, error })
          : [`mcp-tasks: ${Output.plain(message)}`, ...(hint === undefined ? [] : [hint])].join("\n")
      )))

Command.make("mcp-tasks").pipe(
  Command.withDescription("Call long tools of MCP servers, and look after their tasks"),
  Command.withSubcommands([...client.all, serve, tasks]),
  Command.run({ version: "0.1.0" }),
  Effect.tapError((error) => error instanceof CliFailure.CliFailure ? tell(error) : Effect.void),
  Effect.provide(Layer.merge(NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))),
  NodeRuntime.runMain
)
