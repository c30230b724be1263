/**
 * stdio: the server is a process of ours, each message one line.
 *
 * The process is started when it is first needed, and again when it has ended: requests in flight are lost with it,
 * and whoever sent them decides whether to send them again. Nothing but requests and `notifications/cancelled` is ever
 * written to it. With the layer its input is closed; if it does not end by itself then, it is killed.
 *
 * Source: basic/transports/stdio.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as connection from "./internal/stdioConnection.ts"
import { Transport } from "./Transport.ts"

/**
 * Which process is the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions {
  /** Made by `ChildProcess.make`. Its standard streams are the transport's. */
  readonly command: ChildProcess.Command
  /** The largest message that is read, in bytes; 16 MiB. */
  readonly maxMessageBytes?: number | undefined
}

/**
 * What a command is called towards users.
 *
 * @category conversions
 * @since 0.1.0
 */
export const nameOf = (command: ChildProcess.Command): string =>
  command._tag === "StandardCommand" ? [command.command, ...command.args].join(" ") : nameOf(command.right)

/**
 * Reaches a server in a process of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: StdioOptions
): Layer.Layer<Transport, never, ChildProcessSpawner.ChildProcessSpawner> =>
  Layer.effect(
    Transport,
    Effect.gen(function*() {
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const scope = yield* Effect.scope
      const turn = yield* Semaphore.make(1)
      const maxBytes = options.maxMessageBytes ?? 16 * 1024 * 1024
      let current: { readonly connection: connection.Connection; readonly scope: Scope.Closeable } | undefined

      const open = Effect.uninterruptible(Effect.gen(function*() {
        if (current !== undefined && !current.connection.isBroken()) return current.connection
        if (current !== undefined) yield* Scope.close(current.scope, Exit.void)
        const own = yield* Scope.fork(scope)
        const opened = yield* connection.open(spawner, options.command, maxBytes).pipe(
          Scope.provide(own),
          Effect.onError(() => Scope.close(own, Exit.void))
        )
        current = { connection: opened, scope: own }
        return opened
      }))
      return Transport.of({
        isAmbiguous: true,
        send: (request) =>
          Stream.unwrap(Effect.map(turn.withPermits(1)(open), (connected) => connected.send(request)))
      })
    })
  )
