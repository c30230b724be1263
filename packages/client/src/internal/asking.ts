/**
 * Requests that a server may answer with questions first: asked, answered, and sent again with the answers.
 *
 * Each round is a request of its own, with an id of its own; the state that the server hands out goes back to it
 * unread, and into no other request.
 *
 * Source: basic/patterns/mrtr.
 *
 * @since 0.1.0
 */
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { InputHandler } from "../InputHandler.ts"
import { InvalidResponse, type RequestError } from "../TaskClientError.ts"

/**
 * Makes an effect interruptible within a region that is not.
 *
 * @since 0.1.0
 */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Who is asked, and on whose behalf.
 *
 * @since 0.1.0
 */
export interface Asker<out E, out R> {
  readonly method: string
  readonly server: string
  readonly tool: string | undefined
  readonly handler: InputHandler<E, R>
  readonly restore: Restore
}

/** More rounds than any conversation has. */
const maxRounds = 100
/** A server that only wants to be asked again is given some time. */
const statelessRoundMs = 1000

/**
 * Sends a request until its answer is no question any more. `send` takes what is to be added to the params.
 *
 * @since 0.1.0
 */
export const converse = <E, R, E2, R2>(
  { handler, method, restore, server, tool }: Asker<E, R>,
  send: (added: Schema.JsonObject) => Effect.Effect<Schema.JsonObject, RequestError | E2, R2>
): Effect.Effect<Schema.JsonObject, RequestError | E | E2, R | R2> =>
  Effect.gen(function*() {
    const answers = (requests: ReadonlyMap<string, TaskView.InputRequest>) =>
      restore(Effect.map(
        Effect.forEach(requests, ([key, request]) =>
          Effect.map(
            handler.answer({
              key,
              method: request.method,
              params: request.params ?? {},
              server,
              tool,
              taskId: undefined,
              isRepeated: false
            }),
            (response) => [key, response] as const
          ), { concurrency: "unbounded" }),
        Object.fromEntries<Schema.JsonObject>
      ))

    let added: Schema.JsonObject = {}
    for (let round = 0; round < maxRounds; round++) {
      const result: Schema.JsonObject = yield* send(added)
      if (result["resultType"] !== "input_required") return result
      const requests = TaskView.readInputRequests(result["inputRequests"])
      const { requestState } = result
      if (requests.size === 0 && requestState === undefined) {
        return yield* new InvalidResponse({ method, detail: "a wish for input that asks for nothing" })
      }
      if (requests.size === 0) yield* restore(Effect.sleep(statelessRoundMs))
      const inputResponses: Schema.JsonObject = yield* answers(requests)
      added = {
        ...(requests.size === 0 ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState })
      }
    }
    return yield* new InvalidResponse({ method, detail: `questions ${maxRounds} times over` })
  })
