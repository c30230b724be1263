/**
 * The official client and its task session as scoped Effects: whatever is opened here is closed with the scope.
 *
 * @since 0.1.0
 */
import type { ClientCapabilities } from "@modelcontextprotocol/client"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import type { ApplicationInputHandler, TaskEnabledSession } from "@modelcontextprotocol/ext-tasks/client"
import { createTaskSessionFromClient, JsonRpcResponseError } from "@modelcontextprotocol/ext-tasks/client"
import { TASKS_EXTENSION_ID_V2 } from "@modelcontextprotocol/ext-tasks/core/v2"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as RawDispatch from "./RawDispatch.ts"

/** Is the protocol revision that the official client is pinned to. */
export const protocolVersion = "2026-07-28"

/** Is how both official clients introduce themselves. */
export const clientInfo = { name: "official-client-suite", version: "0.1.0" } as const

/** Is the endpoint identity under which sessions serialise task references: two sessions of it may share a task. */
export const endpointId = "official-client-suite"

/** Says that the official client rejected; `cause` is what it rejected with, one of its own error classes. */
export class OfficialClientError extends Schema.TaggedError<OfficialClientError>()("OfficialClientError", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {}

/** Runs one promise of the official libraries, naming the operation for the failure. */
export const attempt = <A>(
  operation: string,
  run: (signal: AbortSignal) => Promise<A>
): Effect.Effect<A, OfficialClientError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new OfficialClientError({ operation, cause }) })

/**
 * Connects an official client over streamable HTTP, pinned to revision 2026-07-28, declaring just `capabilities`.
 *
 * **Gotchas**
 *
 * Without the pin the official client opens with the handshake of 2025, which a server of 2026 refuses.
 */
export const connect = (
  url: string,
  capabilities: ClientCapabilities
): Effect.Effect<Client, OfficialClientError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: { pin: protocolVersion } } })
      return Effect.as(
        attempt("connect", () => client.connect(new StreamableHTTPClientTransport(new URL(url)))),
        client
      )
    }),
    (client) => Effect.ignore(attempt("close", () => client.close()))
  )

/** Is the input handler of a session: it answers the questions that tasks ask. */
export type InputHandler = ApplicationInputHandler["handle"]

/** Opens an official task session that declares tasks and elicitation; `onInputRequest` answers what tasks ask. */
export const session = (
  url: string,
  onInputRequest?: InputHandler
): Effect.Effect<TaskEnabledSession, OfficialClientError, Scope.Scope> =>
  Effect.gen(function*() {
    const clientCapabilities = { elicitation: { form: {} } }
    const client = yield* connect(url, {
      ...clientCapabilities,
      extensions: { [TASKS_EXTENSION_ID_V2]: {} }
    })
    return yield* Effect.acquireRelease(
      attempt("open a task session", () =>
        Promise.resolve(createTaskSessionFromClient(client, {
          endpointId,
          rawDispatch: RawDispatch.make(url),
          v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
          ...onInputRequest === undefined ? {} : { onInputRequest }
        }))),
      (opened) => Effect.ignore(attempt("close a task session", () => opened.close()))
    )
  })

/**
 * Sends one request the way a task session would, and returns the `result` untouched by any official schema.
 *
 * Fails with the official `JsonRpcResponseError` of the answer's error as its cause.
 */
export const raw = (url: string): (method: string, params: object) => Effect.Effect<unknown, OfficialClientError> => {
  const dispatch = RawDispatch.make(url)
  return (method, params) =>
    Effect.flatMap(
      attempt(method, (signal) => dispatch({ method, params: framed(params) }, { signal })),
      (response) =>
        response.kind === "result"
          ? Effect.succeed<unknown>(response.result)
          : Effect.fail(new OfficialClientError({ operation: method, cause: new JsonRpcResponseError(response.error) }))
    )
}

const framed = (params: object) => ({
  ...params,
  _meta: {
    "io.modelcontextprotocol/protocolVersion": protocolVersion,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {
      elicitation: { form: {} },
      extensions: { [TASKS_EXTENSION_ID_V2]: {} }
    }
  }
})
