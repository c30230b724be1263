/**
 * From a complete result that a tool wrote itself to one that can be sent, with everything that the tool put into it.
 *
 * MCP lets a result have members that it does not know (`CallToolResult`). They are encoded apart from those it knows:
 * a schema of both would look at all of the content twice.
 *
 * @since 0.2.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { ToolResult } from "../TaskTool.ts"
import * as bulk from "./bulk.ts"
import * as contentBlock from "./contentBlock.ts"
import type * as jsonText from "./jsonText.ts"

/** Content is looked at by hand: a check within the schema costs every result several times as much. */
const known = Schema.Struct({ ...ToolResult.schema.fields, content: Schema.Array(Schema.JsonObject) })

const names: ReadonlySet<string> = new Set(Object.keys(known.fields))

/** What MCP does not know, without what has no value. Most results have none. */
const others = (value: unknown): Readonly<Record<string, unknown>> | undefined => {
  if (!Predicate.isObject(value) || Array.isArray(value)) return undefined
  const unknown = Object.entries(value).filter(([name, member]) => !names.has(name) && member !== undefined)
  return unknown.length === 0 ? undefined : Object.fromEntries(unknown)
}

/**
 * Why a result is certain to be refused, before a schema sees it.
 *
 * @since 0.2.0
 */
export const excess = (value: unknown, bounds: jsonText.Bounds): jsonText.Refusal | undefined => {
  const refused = bulk.refusal(known.ast, value, bounds)
  if (refused !== undefined) return refused
  const more = others(value)
  return more === undefined ? undefined : bulk.refusal(Schema.JsonObject.ast, more, bounds)
}

const encodeKnown = Schema.encodeUnknownEffect(Schema.toCodecJson(known)) as (
  value: unknown
) => Effect.Effect<ToolResult, Schema.SchemaError>
const Others = Schema.StructWithRest(
  Schema.Struct({ resultType: Schema.optionalKey(Schema.Literal("complete")) }),
  [Schema.JsonObject]
)

const encodeOthers = Schema.encodeUnknownEffect(Others)

/** Says which block is none, and why. */
const explained = Schema.encodeUnknownEffect(ToolResult)

/**
 * Encodes a result.
 *
 * @since 0.2.0
 */
export const encode = (value: unknown): Effect.Effect<ToolResult, Schema.SchemaError> =>
  Effect.flatMapEager(encodeKnown(value), (result) => {
    if (result.content.some((block) => contentBlock.fault(block) !== undefined)) return explained(value)
    const more = others(value)
    return more === undefined
      ? Effect.succeed(result)
      : Effect.mapEager(encodeOthers(more), (more) => ({ ...(more as Schema.JsonObject), ...result }))
  })
