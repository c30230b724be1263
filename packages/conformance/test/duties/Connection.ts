/** What a transport gives a test: a way to send a text, and what comes of it. */
import type { TaskStore } from "@effect-mcp-tasks/engine"
import { type Cause, Effect, Schema, type Scope } from "effect"

/** An answer as it came. */
export interface Raw {
  /** None where the transport has no status. */
  readonly status: number | undefined
  /** What differs from answer to answer, such as `date`, is left out. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** How a text is sent. */
export interface Sending {
  /** Whose request it is; Ada's unless said otherwise. */
  readonly as?: string
  /** Headers instead of those that fit the body, where the transport has any; `undefined` leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** Sends it over a connection of its own, where there are connections. */
  readonly apart?: boolean
}

/** A message of a stream, as far as tests look at it. */
export const Message = Schema.fromJsonString(Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Schema.Json),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
}))

/** An answer that is read message by message. */
export interface Reading {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  /** The next message; ends when there will be none. */
  readonly next: Effect.Effect<typeof Message.Type, Cause.Done>
  /** Goes away, as a client does that no longer wants the answer. */
  readonly leave: Effect.Effect<void>
}

/** A server, as a transport reaches it. */
export interface Connection {
  readonly send: (body: string, sending?: Sending) => Effect.Effect<Raw>
  readonly open: (body: string, sending?: Sending) => Effect.Effect<Reading, never, Scope.Scope>
  readonly store: TaskStore.TaskStore["Service"]
  /** What a server does first when it goes away. */
  readonly endSubscriptions: Effect.Effect<void>
}

/** Lets every fiber that can go on do so. */
export const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })
