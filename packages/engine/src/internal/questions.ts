/**
 * The four kinds of questions: the request that each is on the wire, what a client must declare to be asked it, and
 * what its answer means.
 *
 * @since 0.1.0
 */
import * as InputWire from "@effect-mcp-tasks/core/InputWire"
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import type { InputRequest } from "@effect-mcp-tasks/core/Task"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Consent, Elicited, Form, Link } from "../CurrentTask.ts"
import * as form from "./form.ts"

/**
 * A question to be put to a client.
 *
 * @since 0.1.0
 */
export interface Question<A> {
  readonly method: InputRequest["method"]
  /** Not yet bounded, nor known to be JSON. */
  readonly params: Readonly<Record<string, unknown>> | undefined
  /** What the client must have declared. */
  readonly requires: Schema.JsonObject
  /** What the answer means, or why it means nothing: then it is to be asked again. */
  readonly decode: (response: Schema.JsonObject) => Result.Result<A, string>
}

/**
 * A question, or why it cannot be put to any client.
 *
 * @since 0.1.0
 */
export type Asked<A> = Result.Result<Question<A>, string>

const actionOf = (response: Schema.JsonObject): Consent => {
  const { action } = response
  return action === "accept" || action === "decline" ? action : "cancel"
}

/**
 * A form before the user.
 *
 * @since 0.1.0
 */
export const elicit = <A, I>({ message, schema }: Form<A, I>): Asked<Elicited<A>> => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema))
  return Result.map(form.requestedSchema(schema), (requestedSchema) => ({
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema },
    requires: { elicitation: { form: {} } },
    decode: (response) => {
      const action = actionOf(response)
      if (action !== "accept") return Result.succeed({ action })
      return Result.mapBoth(decode(response["content"]), {
        onFailure: (error) => error.message.replaceAll(/\s*\n\s*/g, " "),
        onSuccess: (content): Elicited<A> => ({ action, content })
      })
    }
  }))
}

const isShowable = (url: string): boolean => {
  if (!URL.canParse(url)) return false
  const { password, protocol, username } = new URL(url)
  return (protocol === "https:" || protocol === "http:") && username === "" && password === ""
}

/**
 * A page for the user to open.
 *
 * @since 0.1.0
 */
export const elicitUrl = ({ message, url }: Link): Asked<Consent> =>
  isShowable(url)
    ? Result.succeed({
      method: "elicitation/create",
      params: { mode: "url", message, url },
      requires: { elicitation: { url: {} } },
      decode: (response) => Result.succeed(actionOf(response))
    })
    : Result.fail("its url must be an absolute http(s) address without user and password")

const decodeReply = Schema.decodeUnknownResult(InputWire.CreateMessageResult)
const decodeRequest = Schema.decodeUnknownResult(InputWire.CreateMessageParams)

/**
 * What a conversation is made of, for whoever counts before it is checked.
 *
 * @since 0.2.0
 */
export const sampleAst = InputWire.CreateMessageParams.ast

/**
 * A conversation for the client's model.
 *
 * @since 0.1.0
 */
export const sample = (request: InputWire.CreateMessageParams): Asked<InputWire.CreateMessageResult> =>
  Result.mapBoth(decodeRequest(request), {
    onFailure: (error) => error.message,
    onSuccess: (params) => ({
      method: "sampling/createMessage",
      params: { ...params },
      requires: params.tools === undefined && params.toolChoice === undefined
        ? { sampling: {} }
        : { sampling: { tools: {} } },
      decode: (response) => Result.mapError(decodeReply(response), (error) => error.message)
    })
  })

const decodeRoots = Schema.decodeUnknownResult(InputWire.ListRootsResult)

/**
 * What the client works on.
 *
 * @since 0.1.0
 */
export const listRoots: Question<ReadonlyArray<InputWire.Root>> = {
  method: "roots/list",
  params: undefined,
  requires: { roots: {} },
  decode: (response) =>
    Result.mapBoth(decodeRoots(response), { onFailure: (error) => error.message, onSuccess: ({ roots }) => roots })
}

/**
 * Tells whether a client's capabilities declare what a question requires.
 *
 * **Details**
 *
 * An `elicitation` that names no mode declares forms (client/elicitation, "Capabilities").
 *
 * @since 0.1.0
 */
export const isDeclared = (capabilities: Schema.JsonObject, required: Schema.JsonObject): boolean =>
  Object.entries(required).every(([feature, modes]) => {
    const declared = Object.hasOwn(capabilities, feature) ? capabilities[feature] : undefined
    if (!JsonRpc.isJsonObject(declared) || !JsonRpc.isJsonObject(modes)) return false
    return Object.keys(modes).every((mode) =>
      Object.hasOwn(declared, mode)
        ? JsonRpc.isJsonObject(declared[mode])
        : feature === "elicitation" && mode === "form" && !Object.hasOwn(declared, "url")
    )
  })
