/**
 * Which server a command talks to: an address, or a program that is started for the command.
 *
 * @since 0.2.0
 */
import * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as CliFailure from "./CliFailure.ts"

/**
 * The flags and arguments of a command that talks to a server. The first argument is its address, unless `--stdio`
 * names a program.
 *
 * @category flags
 * @since 0.2.0
 */
export const input = {
  args: Argument.String("args").pipe(
    Argument.withDescription("The address of the server (not with --stdio), then what the command is about"),
    Argument.variadic()
  ),
  stdio: Flag.String("stdio").pipe(
    Flag.withDescription("A command that serves MCP on its standard streams, instead of an address"),
    Flag.withMetavar("COMMAND"),
    Flag.optional
  ),
  token: Flag.Redacted("token").pipe(
    Flag.withDescription("Bearer token; better given in the environment, as MCP_TASKS_TOKEN"),
    Flag.withFallbackConfig(Config.Redacted("MCP_TASKS_TOKEN")),
    Flag.optional
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one JSON document (or one for each line, while watching)"),
    Flag.withDefault(false)
  )
}

/**
 * What the flags and arguments were.
 *
 * @category models
 * @since 0.2.0
 */
export interface Input {
  readonly args: ReadonlyArray<string>
  readonly stdio: Option.Option<string>
  readonly token: Option.Option<Redacted.Redacted>
  readonly json: boolean
}

/**
 * A server, and the arguments that are left once it has been named.
 *
 * @category models
 * @since 0.2.0
 */
export interface Target {
  readonly client: Layer.Layer<TaskClient.TaskClient, never, ChildProcessSpawner.ChildProcessSpawner>
  readonly rest: ReadonlyArray<string>
  /** How a command line names this server again. */
  readonly name: string
}

/** Who the client is, and how patient: somebody waits for it, so a server that is not there is told of soon. */
const identity = { name: "mcp-tasks", version: "0.1.0", firstContact: "5 seconds" } as const

/** What a header takes and a token has (RFC 6750, section 2.1, and what servers make of it): no space, no control. */
const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

/** A redirected POST would arrive as a GET, without its body: the new address is told instead. */
const withoutRedirects = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" })

const address = (text: string): Effect.Effect<URL, CliFailure.CliFailure> => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol)
    ? Effect.succeed(url)
    : Effect.fail(CliFailure.usage(
      `${JSON.stringify(text)} is not the address of a server`,
      "An address looks like http://127.0.0.1:3334/mcp; a program is given with --stdio COMMAND"
    ))
}

/** Splits a command as a shell would, quotes included; nothing in it is expanded. */
const words = (command: string): ReadonlyArray<string> =>
  [...command.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? "")
  )

/**
 * The server that a command was given.
 *
 * @category constructors
 * @since 0.2.0
 */
export const of = Effect.fnUntraced(function*(given: Input): Effect.fn.Return<Target, CliFailure.CliFailure> {
  if (Option.isSome(given.stdio)) {
    const [program, ...args] = words(given.stdio.value)
    if (program === undefined) return yield* CliFailure.usage("--stdio needs a command")
    const command = ChildProcess.make(program, args)
    const name = `--stdio ${CliFailure.shellWord(given.stdio.value)}`
    return { client: TaskClient.layerStdio({ ...identity, command }), rest: given.args, name }
  }
  const [first, ...rest] = given.args
  if (first === undefined) {
    return yield* CliFailure.usage("Which server? Give its address, or a program with --stdio COMMAND")
  }
  if (Option.isSome(given.token) && !isToken(Redacted.value(given.token.value))) {
    return yield* CliFailure.usage(
      "The token is none: it has spaces, ends of lines, or characters beyond ASCII, or is empty",
      "Look at --token, or at MCP_TASKS_TOKEN in the environment"
    )
  }
  const headers = Option.match(given.token, {
    onNone: () => ({}),
    onSome: (token) => ({ authorization: `Bearer ${Redacted.value(token)}` })
  })
  const client = TaskClient.layerHttp({ ...identity, url: yield* address(first), headers })
  const http = Layer.provideMerge(FetchHttpClient.layer, withoutRedirects)
  return { client: Layer.provide(client, http), rest, name: CliFailure.shellWord(first) }
})

/**
 * Exactly the arguments that a command is about, by their names.
 *
 * @category accessors
 * @since 0.2.0
 */
export const named = <const Names extends ReadonlyArray<string>>(
  { rest }: Target,
  ...names: Names
): Effect.Effect<{ readonly [K in keyof Names]: string }, CliFailure.CliFailure> =>
  rest.length === names.length
    ? Effect.succeed(rest as unknown as { readonly [K in keyof Names]: string })
    : Effect.fail(CliFailure.usage(
      rest.length < names.length
        ? `${names[rest.length]} is missing`
        : `${JSON.stringify(rest[names.length])} is one argument too many`
    ))
