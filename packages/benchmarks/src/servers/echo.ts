/**
 * The floor: what `node:http` itself costs.
 *
 * It reads the body, parses the JSON, picks a prepared answer of the size that a tasks server would send and writes
 * it. It checks nothing, stores nothing but which `ask_job` was answered, and runs no handler: no server on
 * `node:http` can be cheaper and still read its requests.
 *
 * @since 0.1.0
 */
import { pollIntervalMs, ttlMs } from "../protocol.ts"
import { askKey, askRequest, askText, quickText, sizedText, toolList } from "../tools.ts"
import { serve } from "./child.ts"

interface Body {
  readonly id: number
  readonly method: string
  readonly params: {
    readonly name?: string
    readonly arguments?: { readonly bytes?: number }
    readonly taskId?: string
  }
}

const stamp = new Date().toISOString()
const common = { createdAt: stamp, lastUpdatedAt: stamp, ttlMs, pollIntervalMs }
const meta = { "io.modelcontextprotocol/serverInfo": { name: "echo", version: "0.1.0" } }

const completed = (text: string) => ({
  status: "completed",
  ...common,
  result: { content: [{ type: "text", text }], resultType: "complete" }
})

/** Prepares what follows the task id in an answer. */
const tail = (fields: object): string => `${JSON.stringify({ ...fields, _meta: meta }).slice(1)}`

const created = tail({ status: "working", ...common })
const working = tail({ status: "working", ...common })
const asking = tail({ status: "input_required", ...common, inputRequests: { [askKey]: askRequest } })
const answered = tail(completed(askText))
const quick = tail(completed(quickText))
const sized = new Map<string, string>()
const acknowledged = JSON.stringify({ resultType: "complete", _meta: meta })
const listed = JSON.stringify({ resultType: "complete", tools: toolList, ttlMs: 0, cacheScope: "private", _meta: meta })

const answeredTasks = new Set<string>()
let nextTask = 0

const sizedTail = (bytes: string): string => {
  const known = sized.get(bytes)
  if (known !== undefined) return known
  const made = tail(completed(sizedText(Number(bytes))))
  sized.set(bytes, made)
  return made
}

/** Tells what a poll sees from the id alone: ids are `TOOL-BYTES-NUMBER-PADDING`, as long as a UUID. */
const polled = (taskId: string): string => {
  const [tool, bytes] = taskId.split("-")
  switch (tool) {
    case "quick_job":
      return quick
    case "sized_job":
      return sizedTail(bytes ?? "0")
    case "ask_job":
      return answeredTasks.has(taskId) ? answered : asking
    default:
      return working
  }
}

const result = ({ method, params }: Body): string => {
  switch (method) {
    case "tools/list":
      return listed
    case "tools/call": {
      const taskId = `${params.name}-${params.arguments?.bytes ?? 0}-${nextTask++}-`.padEnd(36, "0")
      return `{"resultType":"task","taskId":"${taskId}",${created}`
    }
    case "tasks/get":
      return `{"resultType":"complete","taskId":"${params.taskId}",${polled(params.taskId ?? "")}`
    case "tasks/update":
      answeredTasks.add(params.taskId ?? "")
      return acknowledged
    default:
      return acknowledged
  }
}

serve((request, response) => {
  let text = ""
  request.setEncoding("utf8")
  request.on("data", (chunk: string) => {
    text += chunk
  })
  request.on("end", () => {
    const body: Body = JSON.parse(text)
    const answer = `{"jsonrpc":"2.0","id":${body.id},"result":${result(body)}}`
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) })
    response.end(answer)
  })
})
