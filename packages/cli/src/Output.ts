/**
 * What a command prints: results and states for people, or JSON for programs.
 *
 * Results go to the standard output. What happens on the way goes to the standard error, so that a result can be
 * redirected. Text from a server is shown without control characters.
 *
 * @since 0.2.0
 */
import type * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import type * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"

/** Controls but the tab and the end of a line, and marks that turn the direction of text. */
const control = /[^\P{Cc}\t\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * Text of a server as a terminal may show it.
 *
 * @category text
 * @since 0.2.0
 */
export const plain = (text: string): string => text.replaceAll(control, "\ufffd")

/**
 * Prints one JSON document on a line of its own.
 *
 * @category printing
 * @since 0.2.0
 */
export const json = (value: unknown): Effect.Effect<void> => Console.log(JSON.stringify(value))

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
export const result = (value: TaskClientError.ToolResult, asJson: boolean): Effect.Effect<void> => {
  if (asJson) return json(value)
  const { content, structuredContent } = value
  const text = content.map(block).join("\n")
  return text === "" && structuredContent !== undefined
    ? Console.log(JSON.stringify(structuredContent, undefined, 2))
    : Console.log(text)
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
  return plain(`${view.status}${said === undefined || said === "" ? "" : `  ${said}`}`)
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
  return rows.flatMap(([name, value]) => value === undefined ? [] : [`${name.padEnd(8)} ${plain(value)}`]).join("\n")
}
