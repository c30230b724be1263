/**
 * How the programs of the simulation begin, and how they say that something is wrong.
 *
 * @since 0.2.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"

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
 * The names of those of some options that are given, in words; nothing where none is.
 *
 * @since 0.2.0
 */
export const given = (options: Readonly<Record<string, Option.Option<unknown> | boolean>>): string | undefined => {
  const names = Object.entries(options).flatMap(([name, value]) =>
    (typeof value === "boolean" ? value : Option.isSome(value)) ? [`--${name}`] : [])
  return names.length === 0 ? undefined : names.join(", ")
}

/** What is wrong, and where it is written what there is: the whole help would hide it. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
        [...event.errors.map(({ message }) => message), `\`${event.commandPath.join(" ")} --help\` says what there is`]
          .join("\n")
      )
      : CliOutput.defaultPresenter.present(event)
})

/** A number below zero is the value of the flag before it, though it begins as a flag does. */
const joined = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isValue = (index: number) =>
    /^-(\.?\d|Infinity)/.test(args[index] ?? "") && /^--[^=]+$/.test(args[index - 1] ?? "")
  return args.flatMap((argument, index) => {
    if (isValue(index)) return []
    return isValue(index + 1) ? [`${argument}=${args[index + 1]}`] : [argument]
  })
}

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
): void => {
  const command = Command.make(`npm run ${name} --`, flags, main).pipe(Command.withDescription(description))
  Stdio.Stdio.pipe(
    Effect.flatMap(({ args }) => args),
    Effect.flatMap((args) => Command.runWith(command, { version: "0.1.0" })(joined(args))),
    Effect.provide(Layer.merge(NodeServices.layer, presenter)),
    NodeRuntime.runMain
  )
}
