/**
 * What clients say and hear, in words, where a story is told.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type { Answer } from "./clientRules.ts"
import type { World } from "./World.ts"

const inWords = (answer: Answer | undefined): string => {
  if (answer === undefined) return "no answer"
  if ("error" in answer) return `${answer.error.code}, ${answer.error.message}`
  const { resultType, status, statusMessage, inputRequests, result, error } = answer.result
  if (resultType !== "task" && status === undefined) return result === undefined && error === undefined ? "yes" : ""
  const parts = [
    String(status),
    ...inputRequests === undefined ? [] : [`asks ${Object.keys(Object(inputRequests)).join(" and ")}`],
    ...result === undefined ? [] : [JSON.stringify(Object(result).structuredContent ?? result)],
    ...error === undefined ? [] : [String(Object(error).message)],
    ...statusMessage === undefined || error !== undefined ? [] : [String(statusMessage)]
  ]
  return parts.join(", ")
}

/** What is said with an answer, by key. */
const given = (inputResponses: Schema.Json | undefined): string =>
  Object.entries(Object(inputResponses)).map(([key, response]) => {
    const { action, content } = Object(response)
    return `${key}: ${action === "accept" ? content?.word : action}`
  }).join(", ")

/**
 * Tells what clients say and hear. Of polls it tells those that show something new.
 *
 * @since 0.1.0
 */
export class Story {
  private readonly world: World
  private readonly nameOf: (taskId: string) => string
  private readonly shown = new Map<string, string>()

  constructor(world: World, nameOf: (taskId: string) => string) {
    this.world = world
    this.nameOf = nameOf
  }

  /** A client sends a request. */
  asks(client: string, method: string, params: Schema.JsonObject): void {
    const task = () => this.nameOf(String(params["taskId"]))
    switch (method) {
      case "tools/call":
        return this.world.tell(client, () => `calls ${params["name"]}: ${Object(params["arguments"]).script}`)
      case "tasks/update":
        return this.world.tell(client, () => `answers ${task()}, ${given(params["inputResponses"])}`)
      case "tasks/cancel":
        return this.world.tell(client, () => `cancels ${task()}`)
      default:
        return undefined
    }
  }

  /** A server logs an error. In a story, the same one is told once. */
  logs(server: string, text: string): void {
    const [first = ""] = text.split(",")
    const name = `${server} ${first}`
    if (this.world.isTold && this.shown.has(name)) return
    this.shown.set(name, first)
    this.world.note(server, `logs: ${this.world.isTold ? first : text}`)
  }

  /** A client hears an answer, or none for too long. */
  hears(client: string, method: string, answer: Answer | undefined): void {
    const name = `${client} ${method}`
    const isPoll = method === "tasks/get"
    const text = `hears of ${isPoll ? "its poll" : method}: ${inWords(answer)}`
    if (isPoll && this.shown.get(name) === text) return
    this.shown.set(name, text)
    this.world.tell(client, () => text)
  }
}
