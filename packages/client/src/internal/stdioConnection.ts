/**
 * One process that is the server, and the messages to and from it.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@effect-mcp-tasks/core/JsonRpc"
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TransportError } from "../TaskClientError.ts"
import type { Incoming, Outgoing } from "../Transport.ts"
import * as incoming from "./incoming.ts"

/**
 * A process that is the server.
 *
 * @since 0.1.0
 */
export interface Connection {
  readonly send: (request: Outgoing) => Stream.Stream<Incoming, TransportError>
  /** Whether nothing can be sent or received any more. */
  readonly isBroken: () => boolean
}

/** A request that waits for its messages. */
interface Waiting {
  readonly method: string
  readonly messages: Queue.Queue<Incoming, TransportError | Cause.Done>
}

interface Broken {
  readonly reason: TransportError["reason"]
  readonly detail: string
  readonly cause?: unknown
}

/** How long the process may take to end by itself once its input is closed, and again once it was asked to. */
const exitPatience = "2 seconds"

/** The request that a message belongs to, if it says so. */
const idOf = (message: Incoming): JsonRpc.Id | undefined => {
  if (message._tag === "Ignored") return undefined
  if (message._tag !== "Notification") return message.id ?? undefined
  const { _meta: meta, requestId } = message.params
  // The server ends a subscription of its own accord; there is no other use of this notification.
  if (message.method === "notifications/cancelled") return JsonRpc.isId(requestId) ? requestId : undefined
  const id = JsonRpc.isJsonObject(meta) ? meta[McpProtocol.MetaKey.subscriptionId] : undefined
  return JsonRpc.isId(id) ? id : undefined
}

const isLast = (message: Incoming): boolean =>
  message._tag !== "Notification" || message.method === "notifications/cancelled"

/**
 * Starts the process. It ends with the scope.
 *
 * @since 0.1.0
 */
export const open = Effect.fnUntraced(function*(
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  command: ChildProcess.Command,
  maxBytes: number
): Effect.fn.Return<Connection, TransportError, Scope.Scope> {
  const child = yield* Effect.mapError(
    spawner.spawn(command),
    (cause) =>
      new TransportError({ method: "start", reason: "Unreachable", detail: "the server cannot be started", cause })
  )
  const input = yield* Queue.unbounded<string, Cause.Done>()
  const waiting = new Map<JsonRpc.Id, Waiting>()
  let broken: Broken | undefined

  const fail = (why: Broken) =>
    Effect.suspend(() => {
      broken ??= why
      const all = Array.from(waiting.values())
      waiting.clear()
      return Effect.forEach(
        all,
        ({ messages, method }) => Queue.fail(messages, new TransportError({ method, ...why })),
        { discard: true }
      )
    })

  const receive = (line: string): Effect.Effect<unknown> => {
    const message = incoming.read(line)
    // What is no message is not for us: some servers print to where only messages may go.
    if (Result.isFailure(message)) return Effect.logDebug(`The server wrote no message: ${message.failure.detail}`)
    const target = waiting.get(idOf(message.success) ?? "")
    if (target === undefined) return Effect.void
    const offered = Queue.offer(target.messages, message.success)
    return isLast(message.success) ? Effect.andThen(offered, Queue.end(target.messages)) : offered
  }

  yield* Stream.fromQueue(input).pipe(
    Stream.encodeText,
    Stream.run(child.stdin),
    Effect.catch((cause) => fail({ reason: "Lost", detail: "the server does not read any more", cause })),
    Effect.forkScoped
  )
  yield* Stream.runDrain(child.stderr).pipe(Effect.ignore, Effect.forkScoped)
  yield* child.stdout.pipe(
    lines(maxBytes),
    Stream.runForEach(receive),
    Effect.catch((cause) => fail({ reason: "Lost", detail: "the server's output broke", cause })),
    Effect.andThen(fail({ reason: "Lost", detail: "the server process has ended" })),
    Effect.forkScoped
  )
  const closed: Broken = { reason: "Closed", detail: "the transport is closed" }
  yield* Effect.addFinalizer(() => Effect.andThen(fail(closed), close(child, input)))

  const shared: Shared = { broken: () => broken, input, waiting }
  return { isBroken: () => broken !== undefined, send: (request) => exchange(request, shared) }
})

interface Shared {
  readonly broken: () => Broken | undefined
  readonly input: Queue.Queue<string, Cause.Done>
  readonly waiting: Map<JsonRpc.Id, Waiting>
}

const exchange = ({ body, id, method }: Outgoing, shared: Shared): Stream.Stream<Incoming, TransportError> => {
  const { broken, input, waiting } = shared
  return Stream.unwrap(Effect.gen(function*() {
    const why = broken()
    if (why !== undefined) return Stream.fail(new TransportError({ method, ...why }))
    const messages = yield* Queue.unbounded<Incoming, TransportError | Cause.Done>()
    yield* Effect.acquireRelease(
      Effect.sync(() => waiting.set(id, { method, messages })),
      () =>
        Effect.suspend(() => {
          const isWithdrawn = waiting.delete(id) && Queue.isQueue(messages) && messages.state._tag === "Open"
          return isWithdrawn ? Queue.offer(input, cancelled(id)) : Effect.void
        })
    )
    yield* Queue.offer(input, `${oneLine(body)}\n`)
    return Stream.fromQueue(messages)
  }))
}

/** JSON may have these two as they are, but readers of lines, Node's own among them, take them for line breaks. */
const oneLine = (body: string): string => body.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")

/** There is no stream to close here, so a request that is given up is withdrawn by name. */
const cancelled = (requestId: JsonRpc.Id): string => {
  const params: Schema.JsonObject = { requestId }
  return `${JsonRpc.notification("notifications/cancelled", JSON.stringify(params))}\n`
}

type Bytes<E> = Stream.Stream<Uint8Array, E>

const lines = (maxBytes: number) => <E>(bytes: Bytes<E>): Stream.Stream<string, E | TransportError> =>
  Stream.suspend(() => {
    let rest = ""
    const tooLarge = `a message is larger than ${maxBytes} bytes`
    return bytes.pipe(
      Stream.decodeText(),
      Stream.flatMap((chunk) => {
        const parts = (rest + chunk).split("\n")
        rest = parts.pop() ?? ""
        const complete = Stream.fromIterable(parts.filter((line) => line.trim() !== ""))
        return rest.length <= maxBytes ? complete : Stream.concat(
          complete,
          Stream.fail(new TransportError({ method: "read", reason: "TooLarge", detail: tooLarge }))
        )
      })
    )
  })

const close = Effect.fnUntraced(function*(
  child: ChildProcessSpawner.ChildProcessHandle,
  input: Queue.Queue<string, Cause.Done>
) {
  yield* Queue.end(input)
  const exited = yield* Effect.option(Effect.timeoutOption(child.exitCode, exitPatience))
  if (Option.isSome(Option.flatten(exited))) return
  yield* Effect.ignore(child.kill({ killSignal: "SIGTERM", forceKillAfter: exitPatience }))
})
