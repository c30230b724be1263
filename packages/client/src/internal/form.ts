/**
 * The form of an elicitation: from `requestedSchema` to fields, and from text to the values that fit them.
 *
 * The schema is a stranger's. What is not of the flat, primitive kind that elicitation allows is refused, and so is a
 * field that looks as if it asked for a secret, which a form must never do (client/elicitation, "User Interaction
 * Model").
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/**
 * A value to choose, and what to call it.
 *
 * @since 0.1.0
 */
export interface Choice {
  readonly value: string
  readonly title: string
}

/**
 * What a field takes.
 *
 * @since 0.1.0
 */
export type Kind =
  | {
    readonly _tag: "Text"
    readonly format: string | undefined
    readonly minLength: number
    readonly maxLength: number
    readonly initial: string | undefined
  }
  | {
    readonly _tag: "Number"
    readonly isInteger: boolean
    readonly minimum: number
    readonly maximum: number
    readonly initial: number | undefined
  }
  | { readonly _tag: "Boolean"; readonly initial: boolean | undefined }
  | { readonly _tag: "One"; readonly choices: ReadonlyArray<Choice>; readonly initial: string | undefined }
  | {
    readonly _tag: "Many"
    readonly choices: ReadonlyArray<Choice>
    readonly minItems: number
    readonly maxItems: number
    readonly initial: ReadonlyArray<string>
  }

/**
 * A field of a form.
 *
 * @since 0.1.0
 */
export interface Field {
  readonly name: string
  readonly title: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly kind: Kind
}

/**
 * Why a form is not shown.
 *
 * @since 0.1.0
 */
export interface Unusable {
  readonly reason: "secret" | "unsupported"
  readonly detail: string
}

const text = (value: Schema.Json | undefined): string | undefined => typeof value === "string" ? value : undefined

const number = (value: Schema.Json | undefined, otherwise: number): number =>
  typeof value === "number" ? value : otherwise

const strings = (value: Schema.Json | undefined): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : []

const secrets = [
  "password", "passphrase", "passcode", "passwd", "pwd", "pin", "secrets?", "token", "api ?keys?", "private keys?",
  "access keys?", "credentials?", "otp", "totp", "mfa", "cvv", "cvc", "card number", "credit card", "ssn",
  "social security"
]
const secretWords = new RegExp(`\\b(${secrets.join("|")})\\b`)

/** `apiKey`, `API_KEY` and `api-key` are the same two words. */
const words = (name: string): string =>
  name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[^A-Za-z0-9]+/g, " ").toLowerCase()

const looksSecret = (name: string, schema: Schema.JsonObject): boolean =>
  schema["format"] === "password" || schema["writeOnly"] === true || secretWords.test(words(name)) ||
  secretWords.test(words(text(schema["title"]) ?? ""))

/** `enum`, with or without `enumNames`, or a list of `const`s with titles. */
const choicesOf = (schema: Schema.JsonObject): ReadonlyArray<Choice> | undefined => {
  const titled = schema["oneOf"] ?? schema["anyOf"]
  if (Array.isArray(titled)) {
    return titled.flatMap((item) => {
      const value = JsonRpc.isJsonObject(item) ? text(item["const"]) : undefined
      return value === undefined || !JsonRpc.isJsonObject(item) ? [] : [{ value, title: text(item["title"]) ?? value }]
    })
  }
  if (!Array.isArray(schema["enum"])) return undefined
  const names = strings(schema["enumNames"])
  return strings(schema["enum"]).map((value, index) => ({ value, title: names[index] ?? value }))
}

const one = (choices: ReadonlyArray<Choice>, initial: string | undefined): Kind => ({
  _tag: "One",
  choices,
  initial: choices.some(({ value }) => value === initial) ? initial : undefined
})

const many = (choices: ReadonlyArray<Choice>, schema: Schema.JsonObject): Kind => ({
  _tag: "Many",
  choices,
  minItems: number(schema["minItems"], 0),
  maxItems: number(schema["maxItems"], choices.length),
  initial: strings(schema["default"]).filter((item) => choices.some(({ value }) => value === item))
})

const kindOf = (schema: Schema.JsonObject): Kind | undefined => {
  const { default: initial, items, type } = schema
  switch (type) {
    case "boolean":
      return { _tag: "Boolean", initial: typeof initial === "boolean" ? initial : undefined }
    case "integer":
    case "number":
      return {
        _tag: "Number",
        isInteger: type === "integer",
        minimum: number(schema["minimum"], -Infinity),
        maximum: number(schema["maximum"], Infinity),
        initial: typeof initial === "number" ? initial : undefined
      }
    case "string": {
      const choices = choicesOf(schema)
      if (choices !== undefined) return choices.length === 0 ? undefined : one(choices, text(initial))
      return {
        _tag: "Text",
        format: text(schema["format"]),
        minLength: number(schema["minLength"], 0),
        maxLength: number(schema["maxLength"], Infinity),
        initial: text(initial)
      }
    }
    case "array": {
      const choices = JsonRpc.isJsonObject(items) ? choicesOf(items) : undefined
      return choices === undefined || choices.length === 0 ? undefined : many(choices, schema)
    }
    default:
      return undefined
  }
}

/**
 * Reads a requested schema as the fields of a form, in its order.
 *
 * @since 0.1.0
 */
export const read = (requestedSchema: Schema.Json | undefined): Result.Result<ReadonlyArray<Field>, Unusable> => {
  const unsupported = (detail: string) => Result.fail({ reason: "unsupported" as const, detail })
  if (!JsonRpc.isJsonObject(requestedSchema)) return unsupported("it asks with a form that has no schema")
  const { properties = {}, required } = requestedSchema
  if (!JsonRpc.isJsonObject(properties)) return unsupported("the properties of its form are no object")
  const names = new Set(strings(required))
  const fields: Array<Field> = []
  for (const [name, schema] of Object.entries(properties)) {
    if (!JsonRpc.isJsonObject(schema)) return unsupported(`field ${name} has no schema`)
    if (looksSecret(name, schema)) return Result.fail({ reason: "secret", detail: `field ${name} asks for a secret` })
    const kind = kindOf(schema)
    if (kind === undefined) return unsupported(`field ${name} is of a kind that forms do not have`)
    fields.push({
      name,
      title: text(schema["title"]) ?? name,
      description: text(schema["description"]),
      isRequired: names.has(name),
      kind
    })
  }
  const unknown = Array.from(names).find((name) => !Object.hasOwn(properties, name))
  return unknown === undefined ? Result.succeed(fields) : unsupported(`field ${unknown} is required but not described`)
}

/** As strict as telling a slip of the finger takes; the server judges for good. */
const formats: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ["email", (value: string) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)],
  ["uri", (value: string) => URL.canParse(value)],
  ["date", (value: string) => /^\d{4}-\d\d-\d\d$/.test(value) && Option.isSome(DateTime.make(value))],
  [
    "date-time",
    (value: string) =>
      /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/.test(value) &&
      Option.isSome(DateTime.make(value))
  ]
])

const asText = (kind: Extract<Kind, { readonly _tag: "Text" }>, value: string): Result.Result<string, string> => {
  // The specification counts characters, not UTF-16 units.
  const { length } = Array.from(value)
  if (length < kind.minLength) return Result.fail(`at least ${kind.minLength} characters`)
  if (length > kind.maxLength) return Result.fail(`at most ${kind.maxLength} characters`)
  const fits = formats.get(kind.format ?? "")
  return fits === undefined || fits(value) ? Result.succeed(value) : Result.fail(`a valid ${kind.format}`)
}

const asNumber = (kind: Extract<Kind, { readonly _tag: "Number" }>, value: number): Result.Result<number, string> => {
  if (!Number.isFinite(value)) return Result.fail("a number")
  if (kind.isInteger && !Number.isInteger(value)) return Result.fail("a whole number")
  if (value < kind.minimum) return Result.fail(`at least ${kind.minimum}`)
  return value > kind.maximum ? Result.fail(`at most ${kind.maximum}`) : Result.succeed(value)
}

const chosen = (choices: ReadonlyArray<Choice>, given: string): Result.Result<string, string> => {
  const found = choices.find(({ value }) => value === given) ?? choices.find(({ title }) => title === given)
  return found === undefined
    ? Result.fail(`one of ${choices.map(({ value }) => value).join(", ")}`)
    : Result.succeed(found.value)
}

const yes = new Set(["true", "yes", "y", "on", "1"])
const no = new Set(["false", "no", "n", "off", "0"])

const asBoolean = (given: string): Result.Result<boolean, string> => {
  const word = given.trim().toLowerCase()
  if (yes.has(word)) return Result.succeed(true)
  return no.has(word) ? Result.succeed(false) : Result.fail("yes or no")
}

const asMany = (
  kind: Extract<Kind, { readonly _tag: "Many" }>,
  given: ReadonlyArray<string>
): Result.Result<ReadonlyArray<string>, string> => {
  const values: Array<string> = []
  for (const item of given) {
    const found = chosen(kind.choices, item)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    values.push(found.success)
  }
  if (values.length < kind.minItems) return Result.fail(`at least ${kind.minItems} of them`)
  return values.length > kind.maxItems ? Result.fail(`at most ${kind.maxItems} of them`) : Result.succeed(values)
}

/**
 * Makes the value of a field from what someone typed or a file says; a failure says what it has to be.
 *
 * @since 0.1.0
 */
export const valueOf = ({ kind }: Field, given: Schema.Json): Result.Result<Schema.Json, string> => {
  switch (kind._tag) {
    case "Text":
      return typeof given === "object" ? Result.fail("a text") : asText(kind, String(given))
    case "Number": {
      if (typeof given === "number") return asNumber(kind, given)
      return typeof given === "string" && given.trim() !== ""
        ? asNumber(kind, Number(given))
        : Result.fail("a number")
    }
    case "Boolean":
      return typeof given === "boolean" ? Result.succeed(given) : asBoolean(typeof given === "string" ? given : "")
    case "One":
      return typeof given === "object" ? Result.fail("a text") : chosen(kind.choices, String(given))
    case "Many": {
      const items = typeof given === "string" ? given.split(",").map((item) => item.trim()).filter(Boolean) : given
      return Array.isArray(items) ? asMany(kind, strings(items)) : Result.fail("a list")
    }
  }
}

/**
 * What a field has if nobody says otherwise; `undefined` where it has nothing.
 *
 * @since 0.1.0
 */
export const initialOf = ({ kind }: Field): Schema.Json | undefined =>
  kind._tag === "Many" && kind.initial.length === 0 ? undefined : kind.initial

/** Bidirectional controls can make a text read as another one. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const controls = /\p{Cc}/gu
const longest = 2000

/**
 * A server's text as a terminal may show it: no control characters, so that it can neither move the cursor nor pose as
 * the program, and not endless.
 *
 * @since 0.1.0
 */
export const shown = (value: string): string => {
  const plain = value.replaceAll(controls, " ").replaceAll(directions, "")
  return plain.length > longest ? `${plain.slice(0, longest)}…` : plain
}
