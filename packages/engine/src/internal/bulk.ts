/**
 * Whether a value is certain to be too long for what it is to be encoded as, before a schema encodes all of it.
 *
 * A schema checks and encodes a value as a whole, and an array of five million elements takes it seconds in which
 * nothing else runs. So what the schema says of the value's shape is followed, and counted, until the bound is passed.
 * What a schema transforms counts next to nothing: it may become anything.
 *
 * @since 0.2.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

/** Beyond this, a recursive schema says no more of a value. */
const maxDepth = 100

const json = Schema.Json.ast

/** Counts what the text will have at the least, and stops beyond the bound. */
class Count {
  private left: number

  constructor(bound: number) {
    this.left = bound
  }

  get isBeyond(): boolean {
    return this.left < 0
  }

  readonly of = (ast: SchemaAST.AST, value: unknown, depth = 0): void => {
    if (ast.encoding !== undefined || depth > maxDepth) return
    switch (ast._tag) {
      case "Arrays":
        return this.elements(ast, value, depth)
      case "Objects":
        return this.members(ast, value, depth)
      case "Suspend":
        return this.of(ast.thunk(), value, depth + 1)
      case "Union": {
        const [only, ...others] = ast.types.filter((type) => isOf(type, value))
        if (only !== undefined && others.length === 0) this.of(only, value, depth + 1)
        break
      }
      case "String":
      case "Number":
        this.left -= lengthOf(value)
        break
      case "Unknown":
      case "Any":
        return this.json(value, depth)
      default:
        if (ast === json) this.json(value, depth)
    }
  }

  /** What goes into the text as it is, but for what says itself how it is written. */
  private readonly json = (value: unknown, depth: number): void => {
    this.left -= lengthOf(value)
    if (depth > maxDepth || !Predicate.isObjectOrArray(value) || "toJSON" in value) return
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length && !this.isBeyond; at++) {
        this.left -= 2
        this.json(value[at], depth + 1)
      }
      return
    }
    for (const name in value) {
      if (this.isBeyond) return
      const member = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
      if (member === undefined || typeof member === "function" || typeof member === "symbol") continue
      this.left -= name.length + 5
      this.json(member, depth + 1)
    }
  }

  private readonly elements = ({ elements, rest }: SchemaAST.Arrays, value: unknown, depth: number): void => {
    if (!Array.isArray(value)) return
    // What follows a rest of any length counts as that does.
    const [every] = rest
    for (let at = 0; at < value.length && !this.isBeyond; at++) {
      // An element is at least one character, and its separator another.
      this.left -= 2
      const type = elements[at] ?? every
      if (type !== undefined && rest.length < 2) this.of(type, value[at], depth + 1)
    }
  }

  private readonly members = (ast: SchemaAST.Objects, value: unknown, depth: number): void => {
    if (!Predicate.isObject(value)) return
    const members = value as Readonly<Record<PropertyKey, unknown>>
    for (const { name, type } of ast.propertySignatures) {
      if (this.isBeyond) return
      this.of(type, members[name], depth + 1)
    }
    const [every, ...others] = ast.indexSignatures
    if (every === undefined || others.length > 0) return
    for (const name in members) {
      if (this.isBeyond) return
      if (!Object.hasOwn(members, name) || members[name] === undefined) continue
      // Two quotes, a colon, a separator and one character; the name may be written in another way.
      this.left -= 5
      this.of(every.type, members[name], depth + 1)
    }
  }
}

/** The length of a text or a number beyond the one character that every element has. */
const lengthOf = (value: unknown): number => {
  switch (typeof value) {
    case "string":
      return value.length + 1
    case "number":
      return Number.isFinite(value) ? String(value).length - 1 : 0
    default:
      return 0
  }
}

const isOf = ({ _tag }: SchemaAST.AST, value: unknown): boolean =>
  _tag === "Suspend" || (Array.isArray(value) ? _tag === "Arrays" : _tag === "Objects" && Predicate.isObject(value))

/**
 * Tells whether a value is certain to become more than so many characters.
 *
 * @since 0.2.0
 */
export const isBeyond = (ast: SchemaAST.AST, value: unknown, maxLength: number): boolean => {
  const count = new Count(maxLength)
  // A getter that throws will throw again for whoever encodes the value, and who says so.
  const counted = Result.try(() => count.of(ast, value))
  return Result.isSuccess(counted) && count.isBeyond
}
