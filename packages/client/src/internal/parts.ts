/**
 * What the operations of one client share.
 *
 * @since 0.1.0
 */
import * as TaskObserver from "@effect-mcp-tasks/core/TaskObserver"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Options, ServerDescription } from "../TaskClient.ts"
import type { RequestError } from "../TaskClientError.ts"
import { TaskHandleStore } from "../TaskHandleStore.ts"
import { Transport } from "../Transport.ts"
import * as catalog from "./catalog.ts"
import * as discovery from "./discovery.ts"
import * as rpc from "./rpc.ts"

/**
 * What the operations of one client share.
 *
 * @since 0.1.0
 */
export interface Parts {
  readonly server: string
  readonly rpc: rpc.Rpc
  readonly tools: catalog.Catalog
  readonly store: TaskHandleStore["Service"] | undefined
  readonly limits: TaskObserver.Limits
  readonly grace: Duration.Duration
  readonly discovered: Effect.Effect<ServerDescription, RequestError>
  /** Makes sure that the server speaks this revision, where a call could be taken for one of another. */
  readonly probe: Effect.Effect<void, RequestError>
  readonly isListenable: Effect.Effect<boolean>
  readonly onUnlistenable: Effect.Effect<void>
}

const duration = (input: Duration.Input | undefined, otherwise: Duration.Input): Duration.Duration =>
  Duration.fromInputUnsafe(input ?? otherwise)

/**
 * Makes the parts.
 *
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Parts, never, Transport> {
  const transport = yield* Transport
  const { name, title, version } = options
  const requests = rpc.make(transport, title === undefined ? { name, version } : { name, version, title }, {
    requestTimeout: duration(options.requestTimeout, "30 seconds"),
    retryForMs: Duration.toMillis(duration(options.retryFor, "2 minutes")),
    firstContactMs: options.firstContact === undefined
      ? undefined
      : Duration.toMillis(Duration.fromInputUnsafe(options.firstContact))
  })
  const discovered = (yield* discovery.make(requests)).get
  let isListenable = options.listen ?? true
  const offersTasks = Effect.orElseSucceed(Effect.map(discovered, (server) => server.offersTasks), () => false)
  return {
    server: options.server ?? "server",
    rpc: requests,
    tools: yield* catalog.make(requests),
    store: Option.getOrUndefined(yield* Effect.serviceOption(TaskHandleStore)),
    limits: { ...TaskObserver.defaultLimits, ...options.limits },
    grace: duration(options.cancelGrace, "3 seconds"),
    discovered,
    probe: transport.isAmbiguous ? Effect.asVoid(discovered) : Effect.void,
    isListenable: Effect.suspend(() => isListenable ? offersTasks : Effect.succeed(false)),
    onUnlistenable: Effect.sync(() => {
      isListenable = false
    })
  }
})
