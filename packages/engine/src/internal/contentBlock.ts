/**
 * What a block of content must be for a client to read it: one of the five kinds of MCP (`ContentBlock`), with the
 * members of its kind in their types, and whatever else.
 *
 * A client of a strict library throws the whole result away for one block that is none.
 *
 * @since 0.2.0
 */
import * as Predicate from "effect/Predicate"

/** Says what a value has to be and is not; nothing where it is. */
type Check = (value: unknown) => string | undefined

const that = (is: (value: unknown) => boolean, words: string): Check => (value) => is(value) ? undefined : words

const string = that(Predicate.isString, "a string")

/** Of what is wrong within a member, and of a member that is wrong. */
const within = (name: string, wanted: string): string =>
  wanted.includes(" has to be ") ? `${name}.${wanted}` : `${name} has to be ${wanted}`

/** A check of each member; what is optional may be missing. */
const object = (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>>): Check => {
  const needed = Object.entries(required)
  const possible = Object.entries(optional)
  return (value) => {
    if (!Predicate.isObject(value) || Array.isArray(value)) return "an object"
    const members = value as Readonly<Record<string, unknown>>
    for (const [name, check] of needed) {
      const wanted = check(members[name])
      if (wanted !== undefined) return within(name, wanted)
    }
    for (const [name, check] of possible) {
      const wanted = members[name] === undefined ? undefined : check(members[name])
      if (wanted !== undefined) return within(name, wanted)
    }
    return undefined
  }
}

const arrayOf = (check: Check, words: string): Check =>
  that((value) => Array.isArray(value) && value.every((element) => check(element) === undefined), words)

const isDigits = (text: string): boolean => {
  const padding = text.length % 4 > 0 ? 0 : text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const digits = text.length - padding
  return digits % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, digits))
}

/** As `atob` reads it: blanks do not count, and padding may be left out. */
const isBase64 = (value: unknown): boolean =>
  Predicate.isString(value) && (isDigits(value) || isDigits(value.replaceAll(/[\t\n\f\r ]/g, "")))

const base64 = that(isBase64, "text in base64")
const meta = { _meta: object({}, {}) }

const isRole = that((value) => value === "user" || value === "assistant", "a role")

const annotations = object({}, {
  audience: arrayOf(isRole, "an array of \"user\" and \"assistant\""),
  priority: that((value) => Predicate.isNumber(value) && value >= 0 && value <= 1, "a number from 0 to 1"),
  lastModified: string
})

const common = { ...meta, annotations }

const icon = object({ src: string }, {
  mimeType: string,
  sizes: arrayOf(string, "an array of strings"),
  theme: that((value) => value === "light" || value === "dark", "\"light\" or \"dark\"")
})

const ofText = object({ uri: string, text: string }, { mimeType: string, ...meta })
const ofBytes = object({ uri: string, blob: base64 }, { mimeType: string, ...meta })

const contents: Check = (value) => Predicate.hasProperty(value, "blob") && !Predicate.hasProperty(value, "text")
  ? ofBytes(value)
  : ofText(value)

const media = object({ data: base64, mimeType: string }, common)

const kinds: ReadonlyMap<unknown, Check> = new Map([
  ["text", object({ text: string }, common)],
  ["image", media],
  ["audio", media],
  [
    "resource_link",
    object({ uri: string, name: string }, {
      ...common,
      title: string,
      description: string,
      mimeType: string,
      size: that(Number.isSafeInteger, "an integer"),
      icons: arrayOf(icon, "an array of icons")
    })
  ],
  ["resource", object({ resource: contents }, common)]
])

/**
 * Says what is wrong with a block of content.
 *
 * @since 0.2.0
 */
export const fault = (block: object & { readonly type?: unknown }): string | undefined => {
  const check = kinds.get(block.type)
  return check === undefined ? `type has to be one of ${[...kinds.keys()].join(", ")}` : check(block)
}
