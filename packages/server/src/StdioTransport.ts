/**
 * stdio: one message on each line, requests on the standard input, and everything that answers them on the standard
 * output.
 *
 * Guarantee: nothing but messages is written, each on one line; every line that is not blank and no notification gets
 * exactly one answer, unless its request was cancelled or the output is gone; a cancelled request is stopped, and no
 * message follows for it. No line ends the process, only the end of the input does, and an output that nobody reads any
 * more.
 *
 * Source: basic/transports/stdio; basic/patterns/cancellation.
 *
 * @since 0.1.0
 */
import type { CurrentOwner } from "@effect-mcp-tasks/engine/TaskOwner"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { Dispatcher } from "./Dispatcher.ts"
import * as lines from "./internal/lines.ts"
import * as startFailure from "./internal/startFailure.ts"
import * as stdioSession from "./internal/stdioSession.ts"

/**
 * How the standard streams are served. Every field has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions {
  /** The longest line that is read, in bytes without its line feed; 4 MiB. */
  readonly maxLineBytes?: number | undefined
  /** Requests that are worked on at a time, subscriptions included; 1,000. One more is refused. */
  readonly maxInFlight?: number | undefined
  /** How long requests may still take once the input has ended; 5 seconds. Then they are interrupted. */
  readonly drainTimeout?: Duration.Input | undefined
}

/**
 * Nobody reads the standard output any more, so nothing can be answered. It is in the log when it is raised, and makes
 * a program of `NodeRuntime.runMain` exit with code 1.
 *
 * @category errors
 * @since 0.2.0
 */
export class OutputGone extends Schema.TaggedError<OutputGone>()("OutputGone", {
  cause: Schema.Defect()
}) {
  override readonly [Runtime.errorReported] = false
}

/**
 * Serves the dispatcher on the standard streams until the input ends; fails when nobody reads the output any more.
 *
 * **Details**
 *
 * When the input ends, subscriptions are ended in good order, and requests in flight are answered, within
 * `drainTimeout`; what takes longer is interrupted. When this is interrupted, by a signal for one, subscriptions are
 * ended in good order, and requests in flight are interrupted. Both are answered with -32603 that says so. When the
 * output is gone, which the first message that cannot be written tells, everything in flight is interrupted at once.
 * All requests have the same owner: the one whose process started this one.
 *
 * **Gotchas**
 *
 * Whatever else writes to the standard output breaks the protocol. Effect's default logger does: replace it, as
 * `TaskServer.layerStdio` does for what it holds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const serve = (
  options: StdioOptions = {}
): Effect.Effect<void, OutputGone, Dispatcher | CurrentOwner | Stdio.Stdio> =>
  Effect.scoped(Effect.gen(function*() {
    const stdio = yield* Stdio.Stdio
    const dispatcher = yield* Dispatcher
    const output = yield* Queue.bounded<string, Cause.Done>(16)
    const writing = yield* Stream.fromQueue(output).pipe(
      Stream.map((message) => `${message}\n`),
      Stream.run(stdio.stdout({ endOnDone: false })),
      Effect.tapError((error) => Effect.logError("The standard output is gone", error)),
      Effect.mapError((cause) => new OutputGone({ cause })),
      Effect.forkScoped({ startImmediately: true })
    )
    const session = yield* stdioSession.make({
      write: (message) => Effect.asVoid(Queue.offer(output, message)),
      maxInFlight: options.maxInFlight ?? 1_000
    })
    const reading = readLines(options.maxLineBytes ?? 4 * 1024 * 1024, session.receive)
    const stopCalls = Effect.asVoid(Effect.timeoutOption(Effect.interruptible(session.stopCalls), farewell))
    const close = (before: Effect.Effect<void>, within: Duration.Input) => {
      const atMost = (effect: Effect.Effect<unknown>) => Effect.timeoutOption(Effect.interruptible(effect), within)
      return before.pipe(
        Effect.andThen(dispatcher.endSubscriptions),
        Effect.andThen(atMost(Effect.raceFirst(session.idle, Fiber.await(writing)))),
        Effect.andThen(stopCalls),
        Effect.andThen(session.stop),
        Effect.andThen(Queue.end(output)),
        Effect.andThen(atMost(Fiber.await(writing)))
      )
    }
    yield* Effect.onExit(
      Effect.raceFirst(reading, Fiber.join(writing)),
      (exit) => {
        if (Exit.isSuccess(exit)) return close(Effect.void, options.drainTimeout ?? "5 seconds")
        return Exit.hasFails(exit) ? session.stop : close(stopCalls, farewell)
      }
    )
  }))

/** How long subscriptions, and what is interrupted, may take to say so when the process ends. */
const farewell = Duration.millis(200)

type OnEnd = (exit: Exit.Exit<void, OutputGone>) => Effect.Effect<void>

/** What happens when `serve` has ended within a layer; interrupts the fiber that built it unless provided. */
const OnEnd: Context.Reference<Option.Option<OnEnd>> = Context.Reference<Option.Option<OnEnd>>(
  "@effect-mcp-tasks/server/StdioTransport/OnEnd",
  { defaultValue: Option.none }
)

/**
 * Serves the dispatcher on the standard streams, in the background. Ends the program when `serve` ends.
 *
 * **When to use**
 *
 * With {@link launch} as the whole program. With `Layer.launch` the program ends with the input too, but interrupted:
 * its exit code is 130.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: StdioOptions = {}
): Layer.Layer<never, never, Dispatcher | CurrentOwner | Stdio.Stdio> =>
  Layer.effectDiscard(Effect.withFiber((builder) =>
    Effect.gen(function*() {
      const onEnd = yield* OnEnd
      const interrupt = () => Effect.sync(() => builder.interruptUnsafe())
      yield* Effect.exit(serve(options)).pipe(
        Effect.flatMap(Option.getOrElse(onEnd, () => interrupt)),
        Effect.forkScoped
      )
    })
  ))

/**
 * Writes log messages to the standard error, which is the client's to show or to ignore.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLogger: Layer.Layer<never> = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

/**
 * Runs a program that serves the standard streams until its input ends; fails when nobody reads its output any more.
 *
 * **Details**
 *
 * `NodeRuntime.runMain` exits at once with code 1 when this fails, though the input is still open. A file or a database
 * that cannot be used is told in one line on the standard error, as `HttpStartup.launch` does.
 *
 * **Example** (A program for a desktop host)
 *
 * ```ts
 * TaskServer.layerStdio({ name: "reports", version: "1.0.0", toolkit }).pipe(
 *   Layer.provide([Handlers, TaskStore.layerSql]),
 *   Layer.provide(SqliteClient.layer({ filename: "tasks.sqlite" })),
 *   StdioTransport.launch,
 *   Effect.provide(NodeServices.layer),
 *   NodeRuntime.runMain
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const launch = <A, E, R>(
  program: Layer.Layer<A, E, R>
): Effect.Effect<void, E | OutputGone | startFailure.CannotStart, R> =>
  Effect.scoped(Effect.gen(function*() {
    const ended = yield* Deferred.make<void, OutputGone>()
    const onEnd = Option.some<OnEnd>((exit) => Effect.asVoid(Deferred.done(ended, exit)))
    yield* startFailure.explained(Effect.provideService(Layer.build(program), OnEnd, onEnd), layerLogger)
    yield* Deferred.await(ended)
  }))

const readLines = (maxBytes: number, receive: (line: lines.Line) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    const { stdin } = yield* Stdio.Stdio
    const splitter = lines.splitter(maxBytes)
    yield* stdin.pipe(
      Stream.runForEach((bytes) => Effect.forEach(splitter.next(bytes), receive, { discard: true })),
      Effect.catch((error) => Effect.logError("The standard input cannot be read", error))
    )
    yield* Effect.forEach(splitter.end(), receive, { discard: true })
  })
