/**
 * What a server may ask of a client, and what a client may answer, as the wire has them.
 *
 * The same three requests are put in two ways: by a task (ext-tasks, "Task Update Requests"), and by a call that
 * answers `input_required` (MCP, "Multi Round-Trip Requests"). Like all schemas of the wire they decode leniently:
 * unknown members are ignored.
 *
 * Source: client/elicitation, client/sampling, client/roots, basic/patterns/mrtr.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Question } from "./Task.ts"

const extras = { annotations: Schema.optionalKey(Schema.JsonObject), _meta: Schema.optionalKey(Schema.JsonObject) }
const media = { data: Schema.String, mimeType: Schema.String, ...extras }

const TextBlock = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, ...extras })
const ImageBlock = Schema.Struct({ type: Schema.Literal("image"), ...media })
const AudioBlock = Schema.Struct({ type: Schema.Literal("audio"), ...media })
const ToolUseBlock = Schema.Struct({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Schema.JsonObject,
  _meta: Schema.optionalKey(Schema.JsonObject)
})
const ToolResultBlock = Schema.Struct({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(Schema.JsonObject),
  structuredContent: Schema.optionalKey(Schema.Json),
  isError: Schema.optionalKey(Schema.Boolean),
  _meta: Schema.optionalKey(Schema.JsonObject)
})

/**
 * One block of a message to or from a model (MCP, `SamplingMessageContentBlock`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingBlock = Schema.Union([TextBlock, ImageBlock, AudioBlock, ToolUseBlock, ToolResultBlock])

/**
 * One block of a message to or from a model.
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingBlock = typeof SamplingBlock.Type

const message = {
  role: Schema.Literals(["user", "assistant"]),
  content: Schema.Union([SamplingBlock, Schema.Array(SamplingBlock)]),
  _meta: Schema.optionalKey(Schema.JsonObject)
}

/**
 * A message of a conversation with a model (MCP, `SamplingMessage`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingMessage = Schema.Struct(message)

/**
 * A message of a conversation with a model.
 *
 * @category models
 * @since 0.1.0
 */
export interface SamplingMessage extends Schema.Schema.Type<typeof SamplingMessage> {}

const Priority = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const blocksOf = ({ content }: SamplingMessage): ReadonlyArray<SamplingBlock> =>
  "type" in content ? [content] : content

/** Why a conversation is not one that a model may be given (MCP, "Message Content Constraints"). */
const unbalanced = (messages: ReadonlyArray<SamplingMessage>): string | undefined => {
  let used: ReadonlyArray<string> = []
  for (const said of messages) {
    const blocks = blocksOf(said)
    const results = blocks.flatMap((block) => block.type === "tool_result" ? [block.toolUseId] : [])
    const uses = blocks.flatMap((block) => block.type === "tool_use" ? [block.id] : [])
    if (results.length > 0 && (said.role !== "user" || results.length < blocks.length)) {
      return "tool results stand in a user message that holds nothing else"
    }
    if (uses.length > 0 && said.role !== "assistant") return "tools are used by the assistant"
    if (JSON.stringify(used.toSorted()) !== JSON.stringify(results.toSorted())) {
      return "the results of all tools used, and of no others, are the next message"
    }
    used = uses
  }
  return used.length === 0 ? undefined : "the results of all tools used, and of no others, are the next message"
}

/**
 * What a model is to be asked (MCP, `CreateMessageRequestParams`).
 *
 * **Details**
 *
 * A conversation that no model may be given (a tool used without its result following, results beside other blocks)
 * does not decode. `includeContext` is left out: its values are deprecated.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateMessageParams = Schema.Struct({
  messages: Schema.NonEmptyArray(SamplingMessage).check(Schema.makeFilter(unbalanced)),
  maxTokens: Schema.Int.check(Schema.isGreaterThan(0)),
  systemPrompt: Schema.optionalKey(Schema.String),
  temperature: Schema.optionalKey(Schema.Finite),
  stopSequences: Schema.optionalKey(Schema.Array(Schema.String)),
  modelPreferences: Schema.optionalKey(Schema.Struct({
    hints: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.optionalKey(Schema.String) }))),
    costPriority: Schema.optionalKey(Priority),
    speedPriority: Schema.optionalKey(Priority),
    intelligencePriority: Schema.optionalKey(Priority)
  })),
  metadata: Schema.optionalKey(Schema.JsonObject),
  /** MCP `Tool` objects that the model may use; needs a client that declares `sampling.tools`. */
  tools: Schema.optionalKey(Schema.Array(Schema.JsonObject)),
  toolChoice: Schema.optionalKey(Schema.Struct({
    mode: Schema.optionalKey(Schema.Literals(["auto", "required", "none"]))
  }))
})

/**
 * What a model is to be asked.
 *
 * @category models
 * @since 0.1.0
 */
export interface CreateMessageParams extends Schema.Schema.Type<typeof CreateMessageParams> {}

/**
 * What a model said (MCP, `CreateMessageResult`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateMessageResult = Schema.Struct({
  ...message,
  model: Schema.String,
  stopReason: Schema.optionalKey(Schema.String)
})

/**
 * What a model said.
 *
 * @category models
 * @since 0.1.0
 */
export interface CreateMessageResult extends Schema.Schema.Type<typeof CreateMessageResult> {}

/**
 * A directory or file that the client works on (MCP, `Root`); always a `file://` URI.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Root = Schema.Struct({
  uri: Schema.String.check(Schema.isPattern(/^file:\/\//i)),
  name: Schema.optionalKey(Schema.String),
  _meta: Schema.optionalKey(Schema.JsonObject)
})

/**
 * A directory or file that the client works on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Root extends Schema.Schema.Type<typeof Root> {}

/**
 * What the client works on (MCP, `ListRootsResult`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListRootsResult = Schema.Struct({ roots: Schema.Array(Root) })

/**
 * What a user may put into a form (MCP, `ElicitResult`): text, numbers, truth values and choices.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitContent = Schema.Record(
  Schema.String,
  Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])
)

/**
 * Encodes the `inputRequests` of the questions, in the order in which they were asked, as JSON text.
 *
 * **Details**
 *
 * Joined as text: an object would move keys that look like numbers to the front.
 *
 * @category encoding
 * @since 0.1.0
 */
export const inputRequests = (questions: ReadonlyArray<Pick<Question, "key" | "request">>): string =>
  `{${questions.map(({ key, request }) => `${JSON.stringify(key)}:${JSON.stringify(request)}`).join(",")}}`

/**
 * Encodes the answer to a call that needs input before it can go on (MCP, `InputRequiredResult`), as JSON text.
 *
 * @category encoding
 * @since 0.1.0
 */
export const inputRequiredResult = (
  questions: ReadonlyArray<Pick<Question, "key" | "request">>,
  requestState: string
): string => {
  const asked = `"inputRequests":${inputRequests(questions)}`
  return `{"resultType":"input_required",${asked},"requestState":${JSON.stringify(requestState)}}`
}
