/**
 * Why a server cannot start, in one sentence for whoever started it.
 *
 * What the outside world refuses (a port, a file, a database) is no fault of the program: a stack trace would only hide
 * the reason. Everything else keeps its trace.
 *
 * @since 0.2.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"

/**
 * A server could not start, and has said why in its log.
 *
 * @category errors
 * @since 0.2.0
 */
export class CannotStart extends Schema.TaggedError<CannotStart>()("CannotStart", {
  message: Schema.String,
  cause: Schema.Defect()
}) {
  // It has been said, in one line.
  override readonly [Runtime.errorReported] = false
}

/** What the outside world refuses, by the tags of the errors that layers fail with. */
const tags: ReadonlySet<unknown> = new Set([
  "ServeError",
  "SqlError",
  "MigrationError",
  "TaskStoreError",
  "RedisError",
  "WorkersUnavailable",
  "NotOpened",
  "WrongPrefix",
  "PlatformError",
  "ConfigError"
])

type Fields = Readonly<Record<string, unknown>>

/** What an error says, and what those below it say that is not said yet. */
const reasonOf = (error: unknown): string => {
  const said: Array<string> = []
  let at: unknown = error
  for (let depth = 0; depth < 8 && Predicate.isObject(at); depth++) {
    const { cause, code, errors, message, reason } = at as Fields
    const text = [message, code].find((text): text is string => typeof text === "string" && text !== "")
    const oneLine = text?.replaceAll(/\s*\n\s*/g, " ")
    if (oneLine !== undefined && !said.some((earlier) => earlier.includes(oneLine))) said.push(oneLine)
    at = (Array.isArray(errors) ? errors[0] : undefined) ?? (Predicate.isObject(reason) ? reason : cause)
  }
  return said.join(": ")
}

/** What to do about a port, by the code of the failed system call. */
const portSentence = (cause: unknown): string | undefined => {
  const { address, code, path, port } = Object(cause) as Fields
  const at = typeof port === "number" ? `${String(address)}:${port}` : String(path ?? address ?? "The address")
  switch (code) {
    case "EADDRINUSE":
      return `${at} is already in use. Stop what uses it, or choose another port`
    case "EACCES":
      return `${at} may not be used by this user. Choose another port: those below 1024 are often for root only`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${at} is no address of this machine. Choose another host`
    case "ERR_SOCKET_BAD_PORT":
      return "The port is none: it has to be an integer from 0 to 65535"
    default:
      return undefined
  }
}

/**
 * The sentence, for what the outside world refuses.
 *
 * @since 0.2.0
 */
export const sentence = (error: unknown): Option.Option<string> => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  const port = portSentence(cause) ?? portSentence(error)
  if (port !== undefined) return Option.some(port)
  return Predicate.hasProperty(error, "_tag") && tags.has(error._tag) ? Option.some(reasonOf(error)) : Option.none()
}

/**
 * Says in one line of the log why a program cannot start, and fails so that nothing else is said.
 *
 * @since 0.2.0
 */
export const explained = <A, E, R>(
  start: Effect.Effect<A, E, R>,
  logger: Layer.Layer<never> = Layer.empty
): Effect.Effect<A, E | CannotStart, R> =>
  Effect.catchCause(start, (cause): Effect.Effect<never, E | CannotStart> => {
    const error = Cause.squash(cause)
    const message = Cause.hasInterruptsOnly(cause) ? Option.none<string>() : sentence(error)
    if (Option.isNone(message)) return Effect.failCause(cause)
    const text = `The server cannot start: ${message.value}`
    const said = Effect.provide(Effect.logError(text), logger)
    return Effect.andThen(said, Effect.fail(new CannotStart({ message: text, cause: error })))
  })
