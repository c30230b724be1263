/**
 * What a command prints: results and states for people, or JSON for programs.
 *
 * Results go to the standard output. What happens on the way goes to the standard error, so that a result can be
 * redirected. Whatever a server or a store says is printed without control characters: replaced in text, escaped in
 * JSON, and without line breaks where a line is the unit.
 *
 * @since 0.2.0
 */
import type * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as CliFailure from "./CliFailure.ts"

/** Controls but the tab and the end of a line, other ends of lines, and marks that turn the direction of text. */
const control = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/**
 * Text of a server as a terminal may show it.
 *
 * @category text
 * @since 0.2.0
 */
export const plain = (text: string): string => text.replaceAll(control, "\ufffd")

/**
 * The same where text must stay on its line, so that it cannot pose as another one.
 *
 * @category text
 * @since 0.2.0
 */
export const oneLine = (text: string): string => plain(text.replaceAll(/[\t\r\n]+/g, " "))

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * JSON text that is safe to show: what `plain` replaces is escaped, which changes no value.
 *
 * @category text
 * @since 0.2.0
 */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(control, escaped)

/**
 * Prints text and the end of the line on the standard output, and fails where it does not arrive there.
 *
 * @category printing
 * @since 0.2.0
 */
export const print = (text: string): Effect.Effect<void, CliFailure.CliFailure, Stdio.Stdio> =>
  Effect.flatMap(Stdio.Stdio, ({ stdout }) =>
    Stream.make(`${text}\n`).pipe(
      Stream.run(stdout()),
      Effect.mapError((error) => CliFailure.usage(`The output could not be written: ${CliFailure.reasonOf(error)}`))
    ))

/**
 * Prints one JSON document on a line of its own.
 *
 * @category printing
 * @since 0.2.0
 */
export const json = (value: unknown) => print(jsonText(value))

/**
 * Says something besides the result on the standard error: a sentence, or with `asJson` a document.
 *
 * @category printing
 * @since 0.2.0
 */
export const note = (
  told: { readonly message: string; readonly hint?: string | undefined; readonly [name: string]: unknown },
  asJson: boolean
): Effect.Effect<void> => {
  const { hint, message } = told
  // A line of the message that follows the first must not look like one of ours.
  const text = [`mcp-tasks: ${message.replaceAll("\n", "\n  ")}`, ...(hint === undefined ? [] : [hint])].join("\n")
  return Console.error(asJson ? jsonText(told) : plain(text))
}

/**
 * Says how a command failed.
 *
 * @category printing
 * @since 0.2.0
 */
export const failure = (failed: CliFailure.CliFailure, asJson: boolean): Effect.Effect<void> => {
  const { error, exitCode, hint, message, result, taskId } = failed
  return note({ message, exitCode, hint, taskId, error, result }, asJson)
}

const block = (content: Schema.JsonObject): string => {
  const { mimeType, text, type, uri } = content
  if (type === "text" && typeof text === "string") return plain(text)
  const what = [type, mimeType, uri].filter((part) => typeof part === "string").join(" ")
  return plain(`[${what === "" ? "content" : what}]`)
}

/**
 * Prints the result of a tool: its text, and where it has none its structured content.
 *
 * @category printing
 * @since 0.2.0
 */
export const result = (value: TaskClientError.ToolResult, asJson: boolean) => {
  if (asJson) return json(value)
  const { content, structuredContent } = value
  const text = content.map(block).join("\n")
  return print(text === "" && structuredContent !== undefined ? jsonText(structuredContent, 2) : text)
}

const instant = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : Option.getOrUndefined(Option.map(DateTime.make(at), DateTime.formatIso))

/**
 * A task as JSON, near to what the protocol says of it.
 *
 * @category text
 * @since 0.2.0
 */
export const viewAsJson = (view: TaskView.TaskView): object => ({
  taskId: view.taskId,
  status: view.status,
  ...(view.statusMessage === undefined ? {} : { statusMessage: view.statusMessage }),
  ...(view.createdAt === undefined ? {} : { createdAt: instant(view.createdAt) }),
  ...(view.lastUpdatedAt === undefined ? {} : { lastUpdatedAt: instant(view.lastUpdatedAt) }),
  ...(view.ttlMs === undefined ? {} : { ttlMs: view.ttlMs }),
  ...(view.pollIntervalMs === undefined ? {} : { pollIntervalMs: view.pollIntervalMs }),
  ...(view.status === "input_required" ? { inputRequests: Object.fromEntries(view.inputRequests) } : {}),
  ...(view.status === "completed" ? { result: view.result } : {}),
  ...(view.status === "failed" ? { error: view.error } : {})
})

const question = ([key, { method, params }]: readonly [string, TaskView.InputRequest]): string => {
  const message = params?.["message"]
  return `${key}: ${typeof message === "string" ? message : method}`
}

/**
 * A task in one line: its status, and what it says or asks.
 *
 * @category text
 * @since 0.2.0
 */
export const line = (view: TaskView.TaskView): string => {
  const asked = view.status === "input_required" ? [...view.inputRequests].map(question).join("; ") : undefined
  const failed = view.status === "failed" ? `${view.error.message} (${view.error.code})` : undefined
  const said = asked ?? failed ?? view.statusMessage
  return oneLine(`${view.status}${said === undefined || said === "" ? "" : `  ${said}`}`)
}

/**
 * A task in several lines, each a name and a value.
 *
 * @category text
 * @since 0.2.0
 */
export const details = (view: TaskView.TaskView): string => {
  const rows: ReadonlyArray<readonly [string, string | undefined]> = [
    ["task", view.taskId],
    ["status", line(view)],
    ["created", instant(view.createdAt)],
    ["updated", instant(view.lastUpdatedAt)],
    ["ttl", view.ttlMs === undefined ? undefined : view.ttlMs === null ? "unlimited" : `${view.ttlMs} ms`]
  ]
  return rows.flatMap(([name, value]) => value === undefined ? [] : [`${name.padEnd(8)} ${oneLine(value)}`]).join("\n")
}
