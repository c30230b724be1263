/**
 * Calls that ask in rounds (MCP, "Multi Round-Trip Requests"): from a retry to the round it begins, and from the end of
 * a round to the answer.
 *
 * @since 0.1.0
 */
import * as InputWire from "@effect-mcp-tasks/core/InputWire"
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import type * as McpRequest from "@effect-mcp-tasks/core/McpRequest"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as CallRound from "@effect-mcp-tasks/engine/CallRound"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import type { RegisteredTool, ToolOutcome } from "@effect-mcp-tasks/engine/TaskTools"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import { type Failure, refuse } from "./refusals.ts"
import type * as sealedState from "./sealedState.ts"

/**
 * A call in one of its rounds.
 *
 * @since 0.1.0
 */
export interface Round extends Pick<CallRound.CallRound, "journal"> {
  /**
   * Runs a part of the call. A value is for the caller to go on with; anything else is the answer to the request
   * already.
   */
  readonly run: <A>(effect: Effect.Effect<A>, kind: "asking" | "handler") => Effect.Effect<Part<A>, Failure>
}

/**
 * What came of a part of a call: its value, the JSON text of the result that answers the request, or an outcome.
 *
 * @since 0.1.0
 */
export type Part<A> =
  | { readonly _tag: "Value"; readonly value: A }
  | { readonly _tag: "Answer"; readonly result: string }

/**
 * Begins the round that a request is for, from what it brings.
 *
 * @since 0.1.0
 */
export const begin = Effect.fnUntraced(function*(
  states: sealedState.SealedState,
  { meta, params }: McpRequest.AdmittedRequest,
  tool: RegisteredTool,
  given: Schema.JsonObject
): Effect.fn.Return<Round, Failure, TaskOwner.CurrentOwner> {
  const { inputResponses = {}, requestState } = params
  if (!JsonRpc.isJsonObject(inputResponses)) {
    return yield* refuse(WireError.invalidParams("params.inputResponses must be an object"))
  }
  const call = { owner: yield* TaskOwner.CurrentOwner, tool: tool.name, arguments: given }
  const round = yield* CallRound.make({
    tool,
    capabilities: meta.clientCapabilities,
    state: requestState === undefined ? CallRound.initial : yield* opened(states, call, requestState),
    responses: inputResponses
  })
  return {
    journal: round.journal,
    run: (effect, kind) =>
      Effect.flatMap(
        round.run(effect, { mute: kind === "asking" || tool.isRepeatable ? undefined : asATask }),
        (end): Effect.Effect<Part<Effect.Success<typeof effect>>, Failure> => {
          switch (end._tag) {
            case "Ended":
              return Effect.succeed({ _tag: "Value", value: end.value })
            case "Asked":
              return Effect.map(asked(states, call, end), (result) => ({ _tag: "Answer", result }))
            case "Interrupted":
              return refuse(WireError.internalError("The tool was interrupted before it ended"))
          }
        }
      )
  }
})

/** Where a handler must not run again, only a task can ask. */
const asATask = { extensions: { [McpProtocol.TasksExtension]: {} } }

/** One sentence for whatever is the matter with a state. */
const notOurs = WireError.invalidParams("params.requestState is not one that is valid for this call")

const opened = Effect.fnUntraced(function*(
  states: sealedState.SealedState,
  call: sealedState.Call,
  text: Schema.Json
): Effect.fn.Return<CallRound.CallState, Failure> {
  const state = typeof text === "string" ? yield* states.open(call, text) : Option.none()
  return Option.isSome(state) ? state.value : yield* refuse(notOurs)
})

const asked = Effect.fnUntraced(function*(
  states: sealedState.SealedState,
  call: sealedState.Call,
  { questions, state }: Extract<CallRound.RoundEnd<unknown>, { readonly _tag: "Asked" }>
): Effect.fn.Return<string, Failure> {
  const sealed = yield* states.seal(call, state)
  return Option.isSome(sealed)
    ? InputWire.inputRequiredResult(questions, sealed.value)
    : yield* refuse(WireError.internalError("The tool has gathered more than a client can be given to carry"))
})

/**
 * The answer to a request whose call has ended within it.
 *
 * @since 0.1.0
 */
export const finished = (outcome: ToolOutcome): Effect.Effect<string, Failure> =>
  outcome._tag === "Result" ? Effect.succeed(outcome.result) : refuse(outcome.error)
