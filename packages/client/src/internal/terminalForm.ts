/**
 * A form at the terminal: said who asks, asked field by field, shown for review, and only then sent.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Terminal from "effect/Terminal"
import type { InputQuestion } from "../InputHandler.ts"
import * as form from "./form.ts"

type Content = Record<string, Schema.Json>

type Asked<A> = Effect.Effect<A, Terminal.QuitError, Prompt.Environment>

/** A terminal that cannot be written to cannot be asked. */
const say = (text: string): Asked<void> =>
  Effect.flatMap(Terminal.Terminal, (terminal) =>
    Effect.mapError(terminal.display(text), () => new Terminal.QuitError({})))

const header = ({ isRepeated, params, server, tool }: InputQuestion): string => {
  const { message } = params
  const from = `${form.shown(server)} asks${tool === undefined ? "" : ` for ${form.shown(tool)}`}`
  const again = isRepeated ? " (asked before; the answer was lost)" : ""
  return `\n${from}${again}:\n${form.shown(typeof message === "string" ? message : "")}\n`
}

const labelOf = ({ description, isRequired, title }: form.Field): string => {
  const about = description === undefined ? "" : ` (${form.shown(description)})`
  return `${form.shown(title)}${about}${isRequired ? "" : ", optional"}`
}

/** Of free text: blank leaves an optional field out, and what does not fit is asked again. */
const typed = (field: form.Field, initial: Schema.Json | undefined): Asked<Option.Option<Schema.Json>> => {
  const isLeftOut = (given: string) => given === "" && !field.isRequired
  return Prompt.run(Prompt.String({
    message: labelOf(field),
    ...(initial === undefined ? {} : { default: String(initial) }),
    validate: (given) => {
      const value = isLeftOut(given) ? Result.succeed(given) : form.valueOf(field, given)
      return Result.isFailure(value) ? Effect.fail(`It has to be ${value.failure}`) : Effect.succeed(given)
    }
  })).pipe(
    Effect.map((given) => isLeftOut(given) ? Option.none() : Result.getSuccess(form.valueOf(field, given)))
  )
}

const notSaid = "not said"

const askField = (field: form.Field, before: Schema.Json | undefined): Asked<Option.Option<Schema.Json>> => {
  const initial = before ?? form.initialOf(field)
  const message = labelOf(field)
  const { isRequired, kind } = field
  switch (kind._tag) {
    case "Text":
    case "Number":
      return typed(field, initial)
    case "Boolean":
      return Effect.asSome(Prompt.run(Prompt.Confirm({ message, initial: initial === true })))
    case "One": {
      const choices = kind.choices.map(({ title, value }) => ({
        title: form.shown(title),
        value: Option.some(value),
        selected: value === initial
      }))
      const leaving = { title: notSaid, value: Option.none<string>(), selected: false }
      return Prompt.run(Prompt.Select({ message, choices: isRequired ? choices : [...choices, leaving] }))
    }
    case "Many": {
      const already = new Set(Array.isArray(initial) ? initial : [])
      const choices = kind.choices.map(({ title, value }) => ({
        title: form.shown(title),
        value,
        selected: already.has(value)
      }))
      return Effect.asSome(
        Prompt.run(Prompt.MultiSelect({ message, choices, min: kind.minItems, max: kind.maxItems }))
      )
    }
  }
}

const askFields = Effect.fnUntraced(function*(fields: ReadonlyArray<form.Field>, before: Content) {
  const content: Content = {}
  for (const field of fields) {
    const value = yield* askField(field, before[field.name])
    if (Option.isSome(value)) content[field.name] = value.value
  }
  return content
})

const review = (fields: ReadonlyArray<form.Field>, content: Content): string =>
  fields.map(({ name, title }) =>
    `  ${form.shown(title)}: ${content[name] === undefined ? notSaid : form.shown(JSON.stringify(content[name]))}\n`
  ).join("")

const accepted = Effect.fnUntraced(function*(fields: ReadonlyArray<form.Field>) {
  let content: Content = {}
  while (true) {
    content = yield* askFields(fields, content)
    if (fields.length > 0) yield* say(review(fields, content))
    const wish = yield* Prompt.run(Prompt.Select({
      message: "Send this answer?",
      choices: [
        { title: "Send", value: "accept" as const },
        ...(fields.length === 0 ? [] : [{ title: "Change it", value: "change" as const }]),
        { title: "Decline to answer", value: "decline" as const }
      ]
    }))
    if (wish === "accept") return { action: "accept", content }
    if (wish === "decline") return { action: "decline" }
  }
})

/**
 * Asks a question at the terminal. Whoever leaves the form has dismissed it: that is a `cancel`.
 *
 * @since 0.1.0
 */
export const ask = (
  question: InputQuestion,
  fields: Result.Result<ReadonlyArray<form.Field>, form.Unusable>
): Effect.Effect<Schema.JsonObject, never, Prompt.Environment> =>
  Effect.gen(function*() {
    yield* say(header(question))
    if (Result.isSuccess(fields)) return yield* accepted(fields.success)
    yield* say(`This is declined: ${form.shown(fields.failure.detail)}.\n`)
    return { action: "decline" }
  }).pipe(Effect.catchTag("QuitError", () => Effect.succeed({ action: "cancel" })))
