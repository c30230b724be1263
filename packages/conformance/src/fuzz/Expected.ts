/**
 * What an input is to be answered with, and whether an answer is that.
 *
 * @since 0.2.0
 */
import * as Schema from "effect/Schema"

/**
 * A request id as it was sent; `null` where none could be read.
 *
 * @category models
 * @since 0.2.0
 */
export type Id = string | number | null

/**
 * What an input is to be answered with.
 *
 * **Details**
 *
 * `httpStatus` is for transports that have one. `precededBy` names the notifications that may come before a result.
 *
 * @category models
 * @since 0.2.0
 */
export type Expected =
  | { readonly _tag: "Silence" }
  | { readonly _tag: "Error"; readonly code: number; readonly httpStatus: number; readonly id: Id }
  | {
    readonly _tag: "Result"
    readonly id: Id
    readonly precededBy?: ReadonlyArray<string>
    /** A word that must be in the result. */
    readonly says?: string
    /** An error that may come instead, such as one for having too much. */
    readonly or?: number
  }

const Answer = Schema.fromJsonString(Schema.Union([
  Schema.Struct({
    jsonrpc: Schema.Literal("2.0"),
    id: Schema.Union([Schema.String, Schema.Int, Schema.Null]),
    result: Schema.Record(Schema.String, Schema.Json)
  }),
  Schema.Struct({
    jsonrpc: Schema.Literal("2.0"),
    id: Schema.Union([Schema.String, Schema.Int, Schema.Null]),
    error: Schema.Struct({ code: Schema.Int, message: Schema.String, data: Schema.optionalKey(Schema.Json) })
  }),
  Schema.Struct({
    jsonrpc: Schema.Literal("2.0"),
    method: Schema.String,
    params: Schema.Record(Schema.String, Schema.Json)
  })
]))

/**
 * A message from a server.
 *
 * @category models
 * @since 0.2.0
 */
export type Message = typeof Answer.Type

/**
 * Reads a message; `undefined` for what is none, or more than one line.
 *
 * @category decoding
 * @since 0.2.0
 */
export const read = (text: string): Message | undefined => {
  const decoded = Schema.decodeUnknownResult(Answer, { onExcessProperty: "error" })(text)
  return decoded._tag === "Success" && !/[\r\n]/.test(text) ? decoded.success : undefined
}

/**
 * Says what is wrong with an answer; `undefined` when nothing is.
 *
 * @category comparing
 * @since 0.2.0
 */
export const faultOf = (expected: Expected, answer: Message, text: string): string | undefined => {
  if (expected._tag === "Silence") return "an answer to what wants none"
  if ("method" in answer) return "a notification where an answer is due"
  if (answer.id !== expected.id) return `the id ${JSON.stringify(answer.id)}, not ${JSON.stringify(expected.id)}`
  if (expected._tag === "Error") {
    if (!("error" in answer)) return `a result, not the error ${expected.code}`
    return answer.error.code === expected.code ? undefined : `the error ${answer.error.code}, not ${expected.code}`
  }
  if ("error" in answer) {
    return answer.error.code === expected.or ? undefined : `the error ${answer.error.code}, not a result`
  }
  if (typeof answer.result["resultType"] !== "string") return "a result without resultType"
  return expected.says === undefined || text.includes(expected.says) ? undefined : "another result"
}
