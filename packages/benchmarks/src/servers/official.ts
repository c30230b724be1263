/**
 * The official SDK, `@modelcontextprotocol/server`, with tasks written by hand.
 *
 * It is mounted as the SDK's documentation says: `createMcpHandler` builds a server per request and `toNodeHandler`
 * binds it to `node:http`. The low-level `Server` is used because it does less per request than `McpServer`.
 *
 * @since 0.1.0
 */
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node"
import { toNodeHandler } from "@modelcontextprotocol/node"
import {
  createMcpHandler,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server
} from "@modelcontextprotocol/server"
import { z } from "zod"
import { tasksExtension } from "../protocol.ts"
import { askKey, askRequest, askText, quickText, sizedText, toolList } from "../tools.ts"
import { serve } from "./child.ts"
import type { TaskContext, ToolResult } from "./handRolledTasks.ts"
import { cancelTask, createTask, getTask, updateTask } from "./handRolledTasks.ts"

const text = (value: string): ToolResult => ({ content: [{ type: "text", text: value }] })

const NoArguments = z.object({})
const SizedArguments = z.object({ bytes: z.int().min(0).max(1_048_576) })
const TaskParams = z.object({ taskId: z.string() })

const parse = <A>(schema: z.ZodType<A>, value: unknown): A => {
  const parsed = schema.safeParse(value ?? {})
  if (!parsed.success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, z.prettifyError(parsed.error))
  return parsed.data
}

const handlerOf = (tool: string, args: unknown): (context: TaskContext) => Promise<ToolResult> => {
  switch (tool) {
    case "quick_job":
      parse(NoArguments, args)
      return async () => text(quickText)
    case "sized_job": {
      const { bytes } = parse(SizedArguments, args)
      return async () => text(sizedText(bytes))
    }
    case "ask_job":
      parse(NoArguments, args)
      return async ({ ask }) => {
        await ask(askKey, askRequest)
        return text(askText)
      }
    case "slow_job":
      parse(NoArguments, args)
      return ({ signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(text("")), { once: true }))
    default:
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${tool}`)
  }
}

/** Refuses a request that does not declare the tasks extension. */
const needTasks = (server: Server): void => {
  if (server.getClientCapabilities()?.extensions?.[tasksExtension] === undefined) {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } })
  }
}

const unknownTask = () => new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown task")

const makeServer = (): Server => {
  const server = new Server(
    { name: "official", version: "2.4.0" },
    { capabilities: { tools: {}, extensions: { [tasksExtension]: {} } } }
  )
  server.setRequestHandler("tools/list", () => ({ tools: [...toolList] }))
  server.setRequestHandler("tools/call", ({ params }) => {
    needTasks(server)
    // The SDK insists on `content` in every result of a tool, a task handle included.
    return { resultType: "task", content: [], ...createTask(handlerOf(params.name, params.arguments)) }
  })
  server.setRequestHandler("tasks/get", { params: TaskParams }, ({ taskId }) => {
    needTasks(server)
    const task = getTask(taskId)
    if (task === undefined) throw unknownTask()
    return task
  })
  server.setRequestHandler("tasks/update", { params: TaskParams }, ({ taskId }, context) => {
    needTasks(server)
    // The SDK lifts `inputResponses` out of the params of every request before a handler sees them.
    if (!updateTask(taskId, context.mcpReq.inputResponses ?? {})) throw unknownTask()
    return {}
  })
  server.setRequestHandler("tasks/cancel", { params: TaskParams }, ({ taskId }) => {
    needTasks(server)
    if (!cancelTask(taskId)) throw unknownTask()
    return {}
  })
  return server
}

const handle = toNodeHandler(createMcpHandler(makeServer, { legacy: "reject" }))

serve((request, response) => {
  // The SDK's structural type predates `exactOptionalPropertyTypes`; an `IncomingMessage` is what it is written for.
  void handle(request as NodeIncomingMessageLike, response)
})
