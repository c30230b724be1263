/**
 * How the programs of the simulation begin, and how they say that something is wrong.
 *
 * @since 0.2.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A number of something, within bounds.
 *
 * @since 0.2.0
 */
export const count = (name: string, minimum: number, maximum: number) =>
  Flag.Int(name).pipe(Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum, maximum }))))

/**
 * Ends with what is wrong with the arguments.
 *
 * @since 0.2.0
 */
export const refuse = (userMessage: string): Effect.Effect<never, CliError.UserError> =>
  Effect.fail(new CliError.UserError({ userMessage, cause: userMessage }))

/**
 * Lets the program end with exit code 1.
 *
 * @since 0.2.0
 */
export const fail: Effect.Effect<void> = Effect.sync(() => {
  process.exitCode = 1
})

/**
 * Runs a program of this name, as its arguments say.
 *
 * @since 0.2.0
 */
export const run = <const Flags extends Command.Command.Config, E>(
  name: string,
  description: string,
  flags: Flags,
  main: (options: Command.Command.Config.Infer<Flags>) => Effect.Effect<void, E, NodeServices.NodeServices>
): void =>
  Command.make(`npm run ${name} --`, flags, main).pipe(
    Command.withDescription(description),
    Command.run({ version: "0.1.0" }),
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain
  )
