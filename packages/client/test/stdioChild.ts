/**
 * An MCP server on its standard streams, written by hand for the tests of the stdio transport. What it is sent it
 * writes to the file that its first argument names, one line each.
 *
 * Its tools: `plain` answers, `job` makes a task that is done when it is told to by `finish`, `die` ends the process,
 * `silent` never answers. Its second argument makes it `stubborn`: it then ignores the end of its input.
 */
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [log = "", manner = ""] = process.argv.slice(2)
const note = (line: string) => appendFileSync(log, `${line}\n`)
const say = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

interface Request {
  readonly id?: number
  readonly method: string
  readonly params: { readonly name?: string; readonly requestId?: number }
}

const subscriptions = new Set<number>()
let isDone = false

const task = () => ({
  taskId: "t1",
  status: isDone ? "completed" : "working",
  createdAt: "2026-07-28T10:00:00Z",
  lastUpdatedAt: isDone ? "2026-07-28T10:00:01Z" : "2026-07-28T10:00:00Z",
  ttlMs: null,
  pollIntervalMs: 60_000,
  ...(isDone ? { result: { content: [{ type: "text", text: "done" }] } } : {})
})

const tagged = (id: number) => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } })

const finish = () => {
  isDone = true
  for (const id of subscriptions) say({ method: "notifications/tasks", params: { ...tagged(id), ...task() } })
}

const call = (name: string | undefined): object | undefined => {
  switch (name) {
    case "job":
      return { resultType: "task", ...task() }
    case "finish":
      finish()
      return { resultType: "complete", content: [] }
    case "die":
      return process.exit(3)
    case "silent":
      return undefined
    default:
      return { resultType: "complete", content: [{ type: "text", text: `${name} by ${process.pid}` }] }
  }
}

const answer = ({ id = 0, method, params }: Request): object | undefined => {
  switch (method) {
    case "server/discover":
      return {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
      }
    case "tools/list":
      return { resultType: "complete", tools: [] }
    case "tools/call":
      return call(params.name)
    case "tasks/get":
      return { resultType: "complete", ...task() }
    case "subscriptions/listen":
      subscriptions.add(id)
      say({
        method: "notifications/subscriptions/acknowledged",
        params: { ...tagged(id), notifications: { taskIds: ["t1"] } }
      })
      return undefined
    default:
      return { resultType: "complete" }
  }
}

console.error("a log line, which is no error")
process.stdout.write("Welcome! This is no message.\n\n")
note(`start ${process.pid}`)

createInterface({ input: process.stdin }).on("line", (line) => {
  note(line)
  const request: Request = JSON.parse(line)
  const result = request.id === undefined ? undefined : answer(request)
  if (result !== undefined) say({ id: request.id, result })
}).on("close", () => {
  note("end of input")
  if (manner !== "stubborn") process.exit(0)
})
if (manner === "stubborn") {
  process.on("SIGTERM", () => note("SIGTERM"))
  setInterval(() => undefined, 1000)
}
