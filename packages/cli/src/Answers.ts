/**
 * Who answers a task's questions: what was said on the command line, then the person at the terminal.
 *
 * @since 0.2.0
 */
import * as InputHandler from "@effect-mcp-tasks/client/InputHandler"
import type * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import * as Flag from "effect/cli/Flag"
import type * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CliFailure from "./CliFailure.ts"

/**
 * The flags that answer questions.
 *
 * @category flags
 * @since 0.2.0
 */
export const input = {
  answer: Flag.KeyValuePair("answer").pipe(
    Flag.withDescription("FIELD=VALUE answers a field, KEY.FIELD=VALUE that of one question; may be repeated"),
    Flag.withMetavar("FIELD=VALUE"),
    Flag.optional
  ),
  answers: Flag.String("answers").pipe(
    Flag.withDescription("A file of JSON whose members answer fields like --answer does"),
    Flag.withMetavar("FILE"),
    Flag.optional
  ),
  decline: Flag.Boolean("decline").pipe(
    Flag.withDescription("Decline every question that is not answered otherwise"),
    Flag.withDefault(false)
  )
}

/**
 * What the flags were.
 *
 * @category models
 * @since 0.2.0
 */
export interface Input {
  readonly answer: Option.Option<Readonly<Record<string, string>>>
  readonly answers: Option.Option<string>
  readonly decline: boolean
}

/**
 * Who answers.
 *
 * @category models
 * @since 0.2.0
 */
export type Handler = InputHandler.InputHandler<TaskClientError.InputRefused, Prompt.Environment>

const Record = Schema.fromJsonString(Schema.JsonObject)

const readFile = (path: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(path)),
    Effect.flatMap(Schema.decodeEffect(Record)),
    Effect.mapError((error) => CliFailure.usage(`The answers in ${path} cannot be used: ${error.message}`))
  )

/** Says which answers are missing, where nobody is there to be asked. */
const nobody: InputHandler.InputHandler<TaskClientError.InputRefused> = {
  capabilities: InputHandler.decline.capabilities,
  answer: (question) => {
    const fields = InputHandler.readForm(question)
    if (Result.isFailure(fields)) {
      return InputHandler.refuse(question, `nobody is here to answer it, and no flag can: ${fields.failure.detail}`)
    }
    const names = fields.success.map(({ name }) => name)
    return names.length === 0
      ? InputHandler.refuse(question, "nobody is here to agree to it")
      : InputHandler.refuse(question, `it asks for ${names.join(", ")}`, names)
  }
}

/**
 * Who answers, by the flags and the terminal.
 *
 * @category constructors
 * @since 0.2.0
 */
export const handler = Effect.fnUntraced(function*(
  { answer, answers, decline }: Input
): Effect.fn.Return<Handler, CliFailure.CliFailure, FileSystem.FileSystem> {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  const otherwise: Handler = decline ? InputHandler.decline : canPrompt ? InputHandler.terminal : nobody
  const written = Option.isSome(answers) ? yield* readFile(answers.value) : {}
  const given = { ...written, ...Option.getOrElse(answer, () => ({})) }
  return Object.keys(given).length === 0 ? otherwise : InputHandler.fromRecord(given, { otherwise })
})
