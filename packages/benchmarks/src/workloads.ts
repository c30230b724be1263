/**
 * What is measured: creates, polls, and whole lifecycles with and without input.
 *
 * A workload prepares its tasks first, unmeasured, and then offers one operation that the driver repeats. Every
 * operation asserts what it was answered, down to the length of the results.
 *
 * @since 0.1.0
 */
import type { RpcClient, RpcResult } from "./RpcClient.ts"
import { connections } from "./RpcClient.ts"
import type { ToolName } from "./tools.ts"
import { askText, quickText } from "./tools.ts"

/** Is one repetition of a workload: a single request, or a whole lifecycle. */
export type Operation = () => Promise<void>

/** Is what a workload leaves to the driver once its tasks exist. */
export interface Prepared {
  readonly operation: Operation

  /** Waits until the work that the operations left behind is done, so that its CPU time is counted too. */
  readonly settle?: Operation

  /** Clears away what the operations left, once everything has been counted. */
  readonly clear?: Operation
}

/** Is a named workload; `operations` is how often a round repeats it at scale 1. */
export interface Workload {
  readonly name: string
  readonly operations: number
  readonly prepare: (client: RpcClient) => Promise<Prepared>
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const create = async (client: RpcClient, name: ToolName, args: object = {}): Promise<string> => {
  const params = { name, arguments: args }
  const { taskId } = await client.send({ method: "tools/call", name, params, resultType: "task" })
  if (taskId === undefined) throw new Error(`${name} was answered with a task that has no id`)
  return taskId
}

const get = (client: RpcClient, taskId: string): Promise<RpcResult> =>
  client.send({ method: "tasks/get", name: taskId, params: { taskId }, resultType: "complete" })

const expectStatus = (task: RpcResult, status: string): void => {
  if (task.status !== status) throw new Error(`Task ${task.taskId} is ${task.status}, not ${status}`)
}

const expectText = (task: RpcResult, bytes: number): void => {
  expectStatus(task, "completed")
  const text = task.result?.content?.[0]?.text
  if (text?.length !== bytes) throw new Error(`Task ${task.taskId} has ${text?.length} bytes of text, not ${bytes}`)
}

/** Polls until the task leaves `working`; a task that works on for some seconds ends the run. */
const untilIdle = async (client: RpcClient, taskId: string): Promise<RpcResult> => {
  for (let attempt = 0; attempt < 2000; attempt++) {
    const task = await get(client, taskId)
    if (task.status !== "working") return task
    await pause(1)
  }
  throw new Error(`Task ${taskId} does not get anywhere`)
}

const pollCompleted = (label: string, bytes: number, operations: number): Workload => ({
  name: `poll completed ${label}`,
  operations,
  prepare: async (client) => {
    const taskIds = await Promise.all(Array.from({ length: connections }, () => create(client, "sized_job", { bytes })))
    for (const taskId of taskIds) expectText(await untilIdle(client, taskId), bytes)
    let turn = 0
    return {
      operation: async () => expectText(await get(client, taskIds[turn++ % taskIds.length] ?? ""), bytes)
    }
  }
})

const cancel = (client: RpcClient, taskId: string): Promise<RpcResult> =>
  client.send({ method: "tasks/cancel", name: taskId, params: { taskId }, resultType: "complete" })

/** A create and the whole life of its task, which completes at once. */
const creates: Workload = {
  name: "create",
  operations: 4000,
  prepare: async (client) => {
    let newest = ""
    return {
      operation: async () => {
        newest = await create(client, "quick_job")
      },
      settle: async () => expectText(await untilIdle(client, newest), quickText.length)
    }
  }
}

/** A create alone: its handler has begun, and works on for as long as anything is counted. */
const createsWorking: Workload = {
  name: "create working",
  operations: 1000,
  prepare: async (client) => {
    const taskIds: Array<string> = []
    return {
      operation: async () => {
        taskIds.push(await create(client, "slow_job"))
      },
      clear: async () => {
        for (const taskId of taskIds) await cancel(client, taskId)
      }
    }
  }
}

const pollWorking: Workload = {
  name: "poll working",
  operations: 8000,
  prepare: async (client) => {
    const taskIds = await Promise.all(Array.from({ length: connections }, () => create(client, "slow_job")))
    let turn = 0
    return {
      operation: async () => expectStatus(await get(client, taskIds[turn++ % taskIds.length] ?? ""), "working"),
      settle: async () => {
        for (const taskId of taskIds) await cancel(client, taskId)
      }
    }
  }
}

const lifecycle: Workload = {
  name: "lifecycle",
  operations: 2000,
  prepare: async (client) => ({
    operation: async () => {
      const taskId = await create(client, "quick_job")
      expectText(await untilIdle(client, taskId), quickText.length)
    }
  })
}

const lifecycleWithInput: Workload = {
  name: "lifecycle with input",
  operations: 1000,
  prepare: async (client) => ({
    operation: async () => {
      const taskId = await create(client, "ask_job")
      const asking = await untilIdle(client, taskId)
      expectStatus(asking, "input_required")
      const [key] = Object.keys(asking.inputRequests ?? {})
      if (key === undefined) throw new Error(`Task ${taskId} needs input but asks nothing`)
      const inputResponses = { [key]: { action: "accept", content: { confirm: true } } }
      const params = { taskId, inputResponses }
      await client.send({ method: "tasks/update", name: taskId, params, resultType: "complete" })
      expectText(await untilIdle(client, taskId), askText.length)
    }
  })
}

/** Is every workload, in the order in which a round runs them. */
export const workloads: ReadonlyArray<Workload> = [
  creates,
  createsWorking,
  pollWorking,
  pollCompleted("1 KiB", 1024, 8000),
  pollCompleted("64 KiB", 65_536, 2000),
  lifecycle,
  lifecycleWithInput
]
