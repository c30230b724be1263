/**
 * One server behind each transport, asked in the same way: a duty that holds everywhere is tried on all of them.
 *
 * Every answer is read by the official schemas of the extension as well, so no test sees a task that they refuse.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  UpdateTaskResultV2Schema
} from "@modelcontextprotocol/ext-tasks/core/v2"
import { Cause, Effect, Exit, Schema, type Scope } from "effect"
import * as Connection from "./Connection.ts"
import * as Transports from "./Transports.ts"

export { settle } from "./Connection.ts"

export const revision = "2026-07-28"

const extension = "io.modelcontextprotocol/tasks"

/** The capabilities of a client that knows tasks and can be asked. */
export const everything = { extensions: { [extension]: {} }, elicitation: {} }

/** How a request is sent. */
export interface Asking extends Connection.Sending {
  readonly id?: Schema.Json
  readonly capabilities?: Schema.Json
  /** What `_meta` holds besides or instead. */
  readonly meta?: Schema.JsonObject
}

const Answer = Schema.fromJsonString(Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.Union([Schema.String, Schema.Int, Schema.Null]),
  result: Schema.optionalKey(Schema.JsonObject),
  error: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    message: Schema.NonEmptyString,
    data: Schema.optionalKey(Schema.Json)
  }))
}))

/** A JSON-RPC response, with how it came. */
export type Answered = typeof Answer.Type & Connection.Raw

/** Reads an answer as one JSON-RPC response: a result or an error, and not both. */
export const read = (raw: Connection.Raw): Answered => {
  const answer = Schema.decodeSync(Answer)(raw.text)
  assert.strictEqual((answer.result === undefined) !== (answer.error === undefined), true, raw.text)
  return { ...answer, ...raw }
}

/** The text of a request. */
export const message = (method: string, params: Schema.JsonObject = {}, asking: Asking = {}): string => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": asking.capabilities ?? everything,
    ...asking.meta
  }
  return JSON.stringify({ jsonrpc: "2.0", id: asking.id ?? 1, method, params: { ...params, _meta } })
}

const transports = { http: Transports.http, stdio: Transports.stdio, memory: Transports.memory }

/** The ways to reach a server. */
export type Transport = keyof typeof transports

const Created = Schema.Struct({ resultType: Schema.Literal("task"), taskId: Schema.String })

/** Whatever speaks of a task is read by the official schema of its method. */
const check = (method: string, result: Schema.JsonObject) => {
  if (result["resultType"] === "task") CreateTaskResultV2Schema.parse(result)
  if (method === "tasks/get") GetTaskResultV2Schema.parse(result)
  if (method === "tasks/update") UpdateTaskResultV2Schema.parse(result)
  if (method === "tasks/cancel") CancelTaskResultV2Schema.parse(result)
}

/** Starts a server behind a transport for as long as the test. */
const start = Effect.fnUntraced(function*(transport: Transport, options: Transports.Options) {
  const { endSubscriptions, open, send, store } = yield* transports[transport](options)
  const ask = (method: string, params?: Schema.JsonObject, asking: Asking = {}) =>
    Effect.map(send(message(method, params, asking), asking), (raw) => {
      const answer = read(raw)
      if (answer.result !== undefined) check(method, answer.result)
      return answer
    })
  const call = (tool: string, args: Schema.JsonObject, asking?: Asking) =>
    ask("tools/call", { name: tool, arguments: args }, asking)
  /** Calls `job`, which becomes a task, and gives back its id. */
  const create = Effect.fnUntraced(function*(text: string, asking?: Asking) {
    const { result } = yield* call("job", { text }, asking)
    yield* Connection.settle
    return (yield* Effect.orDie(Schema.decodeUnknownEffect(Created)(result))).taskId
  })
  /** A task as its owner sees it. */
  const get = (taskId: string, asking?: Asking) =>
    Effect.map(ask("tasks/get", { taskId }, asking), ({ result, text }) => {
      assert.isDefined(result, text)
      return result ?? {}
    })
  /** Sends a request whose answer is read message by message, and knows how to read all of it. */
  const stream = Effect.fnUntraced(function*(method: string, params: Schema.JsonObject, asking: Asking = {}) {
    const reading = yield* open(message(method, params, asking), asking)
    const messages: Array<typeof Connection.Message.Type> = []
    return {
      ...reading,
      next: Effect.orDie(reading.next),
      /** Every message that is left, to the answer. */
      all: Effect.gen(function*() {
        while (messages.at(-1)?.method !== undefined || messages.length === 0) {
          messages.push(yield* Effect.orDie(reading.next))
        }
        return messages
      }),
      /** Expects that nothing follows where an answer ends its stream. */
      isOver: Effect.map(Effect.exit(reading.next), (exit) => {
        assert.isTrue(Exit.isFailure(exit) && Cause.isDone(Cause.squash(exit.cause)))
      })
    }
  })
  const listen = (notifications: Schema.JsonObject, asking: Asking = {}) =>
    stream("subscriptions/listen", { notifications }, { id: "listen", ...asking })
  return { transport, send, ask, call, create, get, stream, listen, store, endSubscriptions }
})

/** A server, and the ways to ask it. */
export type Server = Effect.Success<ReturnType<typeof start>>

/** Registers a test: its title cites the duties that it proves. */
type Test = (
  title: string,
  run: (server: Server) => Effect.Effect<void, unknown, Scope.Scope>,
  options?: Transports.Options
) => void

/** Registers tests on each transport; on some only, where a duty is bound to them. */
export const everywhere = (
  register: (test: Test) => void,
  on: ReadonlyArray<Transport> = ["http", "stdio", "memory"]
) => {
  for (const transport of on) {
    describe(transport, () => {
      register((title, run, options = {}) => it.effect(title, () => Effect.flatMap(start(transport, options), run)))
    })
  }
}

/** Whether a status is as wanted, where the transport has one. */
export const hasStatus = ({ status, text }: Connection.Raw, wanted: number) => {
  if (status !== undefined) assert.strictEqual(status, wanted, text)
}

/** Expects an error with a code, and with a status where the transport has one. */
export const isError = (answer: Answered, code: number, status: number) => {
  assert.strictEqual(answer.error?.code, code, answer.text)
  hasStatus(answer, status)
}
