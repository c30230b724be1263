/**
 * Whether a value is certain to make too long, or too deep, a JSON text, before anything looks at all of it.
 *
 * `JSON.stringify` and the check of a schema list the keys of a value before they come to the first of them: fifty
 * million of a typed array, or one below the other without end where a proxy makes them up. So what is listed here is
 * no more than the bounds allow, and what says how long it is is believed, and not listed at all.
 *
 * @since 0.2.0
 */
import * as Predicate from "effect/Predicate"
import type { Bounds } from "./jsonText.ts"

/**
 * What a value has too much of. Members count where JSON leaves them out: they are looked at all the same.
 *
 * @since 0.2.0
 */
export type Excess = "length" | "depth" | "members"

/**
 * Who is going to look at a value: `text` is `JSON.stringify`, which asks a `toJSON`; `schema` is the check that
 * something is JSON, which does not; `log` is a logger, which writes the entries of a map and a set.
 *
 * @since 0.2.0
 */
export type Reader = "text" | "schema" | "log"

/** Two quotes, a colon, a separator and one character, besides the name. */
const perMember = 5

/**
 * How many members a text of some length has room for. Of those that are left out, no more are looked at either.
 *
 * @since 0.2.0
 */
export const maxMembers = (maxLength: number): number => Math.floor(maxLength / perMember)

/**
 * Counts what the text will have at the least, and stops beyond the bounds.
 *
 * @since 0.2.0
 */
export class Weight {
  excess: Excess | undefined = undefined
  private left: number
  private unwritten: number
  private readonly maxDepth: number
  private readonly reader: Reader
  /** What the value that is looked at is in. */
  private readonly path: Array<unknown> = []

  constructor({ maxDepth, maxLength }: Bounds, reader: Reader) {
    this.left = maxLength
    this.unwritten = maxMembers(maxLength)
    this.maxDepth = maxDepth
    this.reader = reader
  }

  add(length: number): void {
    this.left -= length
    if (this.left < 0) this.excess ??= "length"
  }

  /** Whether an array or object in so many others may be looked into: it is not too deep, and neither too long. */
  mayEnter(value: object, depth: number): boolean {
    if (depth >= this.maxDepth) this.excess ??= "depth"
    else if (least(value) > this.left) this.excess ??= "length"
    return this.excess === undefined
  }

  /** What goes into the text as it is. */
  json(value: unknown, depth: number): void {
    this.add(lengthOf(value))
    if (!Predicate.isObjectOrArray(value) || this.path.includes(value)) return
    if (isWrittenOtherwise(value) && !(this.reader === "schema" && isPlain(value))) {
      // What its `toJSON` gives is not known; but of the one of bytes it is, and it is long.
      if (isBytes(value)) this.add(emptyBytes + 2 * value.byteLength)
      return
    }
    if (!this.mayEnter(value, depth)) return
    this.path.push(value)
    this.parts(value, depth + 1)
    this.path.pop()
  }

  private parts(value: object, depth: number): void {
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length && this.excess === undefined; at++) this.element(value[at], depth)
      return
    }
    if (isListed(value)) return this.add(least(value))
    if (this.reader === "log") this.entries(value, depth)
    for (const name of Object.keys(value)) {
      if (this.excess !== undefined) return
      this.member(name, (value as Readonly<Record<string, unknown>>)[name], depth)
    }
  }

  private element(value: unknown, depth: number): void {
    // An element is at least one character, and its separator another.
    this.add(2)
    this.json(value, depth)
  }

  private entries(value: object, depth: number): void {
    if (!(value instanceof Map || value instanceof Set)) return
    for (const entry of value) {
      if (this.excess !== undefined) return
      this.element(entry, depth)
    }
  }

  private member(name: string, value: unknown, depth: number): void {
    if (value !== undefined && typeof value !== "function" && typeof value !== "symbol") {
      this.add(name.length + perMember)
      return this.json(value, depth)
    }
    this.unwritten--
    if (this.unwritten < 0) this.excess ??= "members"
  }
}

/**
 * The length of a text or a number beyond the one character that every element has.
 *
 * @since 0.2.0
 */
export const lengthOf = (value: unknown): number => {
  switch (typeof value) {
    case "string":
      return value.length + 1
    case "number":
      return Number.isFinite(value) ? String(value).length - 1 : 0
    default:
      return 0
  }
}

/**
 * What an object will be written as at the least, by what it says of its length.
 *
 * @since 0.2.0
 */
export const least = (value: object): number => {
  if (Array.isArray(value)) return 2 * value.length
  if (isTypedArray(value)) return numbered(value.length)
  // A boxed text is written by its `toString`, which may be another.
  return isText(value) && value.toString === String.prototype.toString ? value.length + 1 : 0
}

const isTypedArray = (value: object): value is Uint8Array => ArrayBuffer.isView(value) && !(value instanceof DataView)

const isText = (value: object): value is { readonly length: number } =>
  Object.prototype.toString.call(value) === "[object String]"

/** Whether its keys are the indexes of what it holds, and are not to be listed. */
const isListed = (value: object): boolean => isTypedArray(value) || isText(value)

/** The least length of `{"0":0,"1":0}` with so many members. */
const numbered = (count: number): number => {
  let length = perMember * count
  for (let from = 0, next = 10, digits = 1; from < count; from = next, next *= 10, digits++) {
    length += digits * (Math.min(count, next) - from)
  }
  return length
}

const isWrittenOtherwise = (value: object): boolean => "toJSON" in value && typeof value.toJSON === "function"

/** The length of `{"type":"Buffer","data":[]}` without a first character and a last separator. */
const emptyBytes = 25

/** Node's bytes, which are written as an array of numbers. Other platforms may have none. */
const isBytes = (value: object): value is Uint8Array => {
  const { Buffer } = globalThis as { readonly Buffer?: { readonly prototype: { readonly toJSON: unknown } } }
  return Buffer !== undefined && isTypedArray(value) && "toJSON" in value && value.toJSON === Buffer.prototype.toJSON
}

/** What the check that something is JSON looks into; anything else it refuses at once. */
const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
