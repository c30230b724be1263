/**
 * The official SDK's server with tasks written by hand, as people have them today: a `Map`, a promise for each task.
 *
 * Its tools: `quick` and `rows` (with structured content) make tasks that end by themselves, `ask` one that asks twice
 * at once, `broken` one that fails, `slow` one that only a cancel ends, `plain` answers at once, and `ask_first` asks
 * before it makes a task.
 */
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, ProtocolError, Server } from "@modelcontextprotocol/server"
import { Effect } from "effect"
import { createServer } from "node:http"
import { z } from "zod"

const extension = "io.modelcontextprotocol/tasks"

type Fields = Readonly<Record<string, unknown>>

interface HandWrittenTask {
  status: string
  updated: number
  more: Fields
  readonly answers: Map<string, unknown>
}

/** What the server has done, and was sent, for the test to look at. */
export interface HandWritten {
  readonly url: string
  readonly updates: ReadonlyArray<Fields>
  readonly calls: () => number
}

const question = (message: string) => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
  }
})

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

const makeTasks = () => {
  const tasks = new Map<string, HandWrittenTask>()
  const begin = (more: Fields, status = "working") => {
    const taskId = crypto.randomUUID()
    tasks.set(taskId, { status, updated: Date.now(), more, answers: new Map() })
    return taskId
  }
  const end = (taskId: string, status: string, more: Fields) => {
    const task = tasks.get(taskId)
    if (task === undefined || !["working", "input_required"].includes(task.status)) return
    task.status = status
    task.more = more
    task.updated += 1
  }
  const view = (taskId: string) => {
    const task = tasks.get(taskId)
    if (task === undefined) throw new ProtocolError(-32602, "Unknown task")
    const times = { createdAt: new Date(0).toISOString(), lastUpdatedAt: new Date(task.updated).toISOString() }
    return { taskId, status: task.status, ...times, ttlMs: null, pollIntervalMs: 200, ...task.more }
  }
  return { tasks, begin, end, view }
}

const TaskParams = z.object({ taskId: z.string() })

const makeServer = (state: ReturnType<typeof makeTasks>, updates: Array<Fields>, called: () => void): Server => {
  const { begin, end, tasks, view } = state
  const server = new Server({ name: "official", version: "2" }, {
    capabilities: { tools: {}, extensions: { [extension]: {} } }
  })
  const handle = (taskId: string) => {
    const { inputRequests: _, ...seed } = view(taskId) as Fields
    // The SDK insists on `content` in every result of a tool, a task handle included.
    return { resultType: "task", content: [], ...seed }
  }
  const soon = (more: Fields, status = "completed") => {
    const taskId = begin({})
    setTimeout(() => end(taskId, status, more), 50)
    return handle(taskId)
  }
  server.setRequestHandler("tools/list", () => ({
    tools: ["quick", "ask", "broken", "slow", "plain", "ask_first"].map((name) => ({
      name,
      inputSchema: { type: "object" as const }
    })).concat([{
      name: "rows",
      inputSchema: { type: "object" as const },
      outputSchema: { type: "object" as const, properties: { rows: { type: "integer" } }, required: ["rows"] }
    } as { name: string; inputSchema: { type: "object" } }])
  }))
  server.setRequestHandler("tools/call", ({ params }, context) => {
    called()
    switch (params.name) {
      case "plain":
        return text("at once")
      case "rows":
        return soon({ result: { ...text("7"), structuredContent: { rows: 7 } } })
      case "broken":
        return soon({ error: { code: -32050, message: "It broke", data: { why: "test" } } }, "failed")
      case "slow":
        return handle(begin({}))
      case "ask":
        return handle(begin({ inputRequests: { one: question("One?"), two: question("Two?") } }, "input_required"))
      case "ask_first": {
        const given = context.mcpReq.inputResponses as Record<string, { content: Fields }> | undefined
        if (given?.["who"] === undefined) {
          return { resultType: "input_required", inputRequests: { who: question("Who?") } } as never
        }
        return soon({ result: text(`Hello, ${String(given["who"].content["name"])}`) })
      }
      default:
        return soon({ result: text("done") })
    }
  })
  server.setRequestHandler("tasks/get", { params: TaskParams }, ({ taskId }) => view(taskId))
  server.setRequestHandler("tasks/update", { params: TaskParams }, ({ taskId }, context) => {
    view(taskId)
    // The SDK lifts `inputResponses` out of the params of every request before a handler sees them.
    const given = context.mcpReq.inputResponses ?? {}
    updates.push(given)
    const task = tasks.get(taskId)
    for (const [key, response] of Object.entries(given)) task?.answers.set(key, response)
    if (task?.answers.size === 2) end(taskId, "completed", { result: text(JSON.stringify([...task.answers.values()])) })
    return {}
  })
  server.setRequestHandler("tasks/cancel", { params: TaskParams }, ({ taskId }) => {
    view(taskId)
    end(taskId, "cancelled", {})
    return {}
  })
  return server
}

/** Serves on a free port of the loopback interface, for as long as the scope. */
export const serve = Effect.gen(function*() {
  const state = makeTasks()
  const updates: Array<Fields> = []
  let calls = 0
  const handle = toNodeHandler(createMcpHandler(() => makeServer(state, updates, () => calls++), { legacy: "reject" }))
  const http = createServer((request, response) => {
    // The SDK's structural type predates `exactOptionalPropertyTypes`; an `IncomingMessage` is what it is written for.
    void handle(request as NodeIncomingMessageLike, response)
  })
  const url = yield* Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      http.listen(0, "127.0.0.1", () => {
        const address = http.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed(`http://127.0.0.1:${port}/mcp`))
      })
    }),
    () =>
      Effect.sync(() => {
        http.closeAllConnections()
        http.close()
      })
  )
  return { url, updates, calls: () => calls } satisfies HandWritten as HandWritten
})
