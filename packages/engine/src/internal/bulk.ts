/**
 * Whether a value is certain to be too long or too deep for what it is to be encoded as, before a schema sees it.
 *
 * A schema checks and encodes a value as a whole, and an array of five million elements takes it seconds in which
 * nothing else runs; what goes on without end it never gives back. So what the schema says of the value's shape is
 * followed, and counted, until a bound is passed. What a schema transforms counts next to nothing: it may become
 * anything.
 *
 * @since 0.2.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as jsonText from "./jsonText.ts"
import { lengthOf, Weight } from "./weight.ts"

/** How often a schema may refer to another before it has said anything of a value. */
const maxReferences = 100

const json = Schema.Json.ast

/** Whether it takes any JSON value, under whatever name and description. */
const isJson = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isDeclaration(ast) && SchemaAST.isDeclaration(json) && ast.run === json.run

class Count {
  readonly weight: Weight

  constructor(bounds: jsonText.Bounds) {
    this.weight = new Weight(bounds, "schema")
  }

  readonly of = (ast: SchemaAST.AST, value: unknown, depth: number, references = 0): void => {
    if (ast.encoding !== undefined || references > maxReferences) return
    switch (ast._tag) {
      case "Arrays":
        return this.elements(ast, value, depth)
      case "Objects":
        return this.members(ast, value, depth)
      case "Suspend":
        return this.of(ast.thunk(), value, depth, references + 1)
      case "Union": {
        const [only, ...others] = ast.types.filter((type) => isOf(type, value))
        if (only !== undefined && others.length === 0) this.of(only, value, depth, references + 1)
        break
      }
      case "String":
      case "Number":
        return this.weight.add(lengthOf(value))
      case "Unknown":
      case "Any":
      case "ObjectKeyword":
        return this.weight.json(value, depth)
      default:
        if (isJson(ast)) this.weight.json(value, depth)
    }
  }

  private readonly elements = ({ elements, rest }: SchemaAST.Arrays, value: unknown, depth: number): void => {
    if (!Array.isArray(value) || !this.weight.mayEnter(value, depth)) return
    // What follows a rest of any length counts as that does.
    const [every] = rest
    for (let at = 0; at < value.length; at++) {
      // An element is at least one character, and its separator another.
      this.weight.add(2)
      if (this.weight.excess !== undefined) return
      const type = elements[at] ?? every
      if (type !== undefined && rest.length < 2) this.of(type, value[at], depth + 1)
    }
  }

  private readonly members = (ast: SchemaAST.Objects, value: unknown, depth: number): void => {
    if (!Predicate.isObject(value) || !this.weight.mayEnter(value, depth)) return
    const members = value as Readonly<Record<PropertyKey, unknown>>
    for (const { name, type } of ast.propertySignatures) {
      if (this.weight.excess !== undefined) return
      this.of(type, members[name], depth + 1)
    }
    const [every, ...others] = ast.indexSignatures
    if (every === undefined || others.length > 0) return
    for (const name of Object.keys(members)) {
      if (this.weight.excess !== undefined) return
      if (members[name] === undefined) continue
      // Two quotes, a colon, a separator and one character; the name may be written in another way.
      this.weight.add(5)
      this.of(every.type, members[name], depth + 1)
    }
  }
}

const isOf = ({ _tag }: SchemaAST.AST, value: unknown): boolean =>
  _tag === "Suspend" || (Array.isArray(value) ? _tag === "Arrays" : _tag === "Objects" && Predicate.isObject(value))

/**
 * Why a value is certain to be refused; nothing where it may be fine.
 *
 * @since 0.2.0
 */
export const refusal = (ast: SchemaAST.AST, value: unknown, bounds: jsonText.Bounds): jsonText.Refusal | undefined => {
  const count = new Count(bounds)
  // A getter that throws will throw again for whoever encodes the value, and who says so.
  if (Result.isFailure(Result.try(() => count.of(ast, value, 0)))) return undefined
  return count.weight.excess && jsonText.beyond(count.weight.excess, bounds)
}
