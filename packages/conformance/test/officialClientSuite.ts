import { assert, describe, it } from "@effect/vitest"
import { ProtocolError } from "@modelcontextprotocol/client"
import type { TaskExecutionEvent, TaskOutcome, ToolExecution } from "@modelcontextprotocol/ext-tasks/client"
import { JsonRpcResponseError, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client"
import type { DetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2"
import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  hasTaskServerCapabilityV2,
  TASKS_EXTENSION_ID_V2,
  ToolV2Schema,
  UpdateTaskResultV2Schema
} from "@modelcontextprotocol/ext-tasks/core/v2"
import { Effect, Schedule } from "effect"
import * as OfficialClient from "../src/official/OfficialClient.ts"

const taskTools = [
  "confirm_delete",
  "failing_job",
  "multi_input",
  "protocol_error_job",
  "slow_compute"
]

interface ToolResult {
  readonly isError?: boolean | undefined
  readonly content?: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const textsOf = (result: ToolResult): ReadonlyArray<unknown> => (result.content ?? []).map((block) => block.text)

const accept = { action: "accept", content: { name: "Ada", confirm: true } } as const

/** Polls, 50 ms apart and at most a minute, until the official schema reads a task that `isReached` accepts. */
const pollUntil = (
  raw: ReturnType<typeof OfficialClient.raw>,
  taskId: string,
  isReached: (task: DetailedTaskV2) => boolean
) =>
  raw("tasks/get", { taskId }).pipe(
    Effect.map((result) => GetTaskResultV2Schema.parse(result)),
    Effect.repeat({ until: isReached, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("1 minute")
  )

/** Asserts that the server holds the task as cancelled: a session ends as cancelled on the mere acknowledgement. */
const expectCancelled = (getUrl: () => string, run: ToolExecution<unknown>) =>
  Effect.gen(function*() {
    assert.strictEqual(run.kind, "task")
    const taskId = run.kind === "task" ? run.handle.taskId : ""
    const isOver = (task: DetailedTaskV2) => task.status !== "working" && task.status !== "input_required"
    const ended = yield* pollUntil(OfficialClient.raw(getUrl()), taskId, isOver)
    assert.strictEqual(ended.status, "cancelled")
  })

const createRaw = (raw: ReturnType<typeof OfficialClient.raw>, name: string, args: object) =>
  Effect.map(raw("tools/call", { name, arguments: args }), (result) => CreateTaskResultV2Schema.parse(result))

const completedResult = (outcome: TaskOutcome<unknown>): ToolResult => {
  assert.strictEqual(outcome.status, "completed")
  return Object(resultFromTaskOutcome(outcome))
}

const codeOf = (error: OfficialClient.OfficialClientError): number | undefined =>
  error.cause instanceof JsonRpcResponseError || error.cause instanceof ProtocolError ? error.cause.code : undefined

const negotiation = (getUrl: () => string) =>
  describe("discovery", () => {
    it.live("finds the revision and the extension [C12, C13, E18]", () =>
      Effect.gen(function*() {
        const client = yield* OfficialClient.connect(getUrl(), {})
        assert.strictEqual(client.getProtocolEra(), "modern")
        assert.include(client.getDiscoverResult()?.supportedVersions ?? [], OfficialClient.protocolVersion)
        const capabilities = client.getServerCapabilities()
        assert.isTrue(hasTaskServerCapabilityV2(capabilities))
        // The session takes any other value, `{listChanged: true}` for one, as a server without tasks.
        assert.deepStrictEqual(capabilities?.extensions?.[TASKS_EXTENSION_ID_V2], {})
        assert.notProperty(capabilities, "tasks")
      }))

    it.live("lists tools that both official schemas read [D1, D3]", () =>
      Effect.gen(function*() {
        const client = yield* OfficialClient.connect(getUrl(), {})
        const { tools } = yield* OfficialClient.attempt("tools/list", () => client.listTools())
        assert.includeMembers(tools.map((tool) => tool.name), ["greet", ...taskTools])
        for (const tool of tools) assert.isTrue(ToolV2Schema.safeParse(tool).success, tool.name)
      }))

    it.live("opens a session that may run, answer and cancel tasks", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        assert.isTrue(session.capabilities.execution)
        assert.isTrue(session.capabilities.cancellation)
        assert.isTrue(session.capabilities.inputResponses)
      }))
  })

const wire = (getUrl: () => string) =>
  describe("wire shapes", () => {
    it.live("a created task can be polled at once and keeps its identity [E5]", () =>
      Effect.gen(function*() {
        const raw = OfficialClient.raw(getUrl())
        const created = yield* createRaw(raw, "slow_compute", { seconds: 60, label: "wire" })
        const polled = GetTaskResultV2Schema.parse(yield* raw("tasks/get", { taskId: created.taskId }))
        assert.strictEqual(polled.taskId, created.taskId)
        assert.strictEqual(polled.createdAt, created.createdAt)
        const cancelled = yield* raw("tasks/cancel", { taskId: created.taskId })
        assert.isTrue(CancelTaskResultV2Schema.safeParse(cancelled).success)
        const ended = yield* pollUntil(raw, created.taskId, (task) => task.status !== "working")
        assert.strictEqual(ended.status, "cancelled")
      }))

    it.live("a partial answer leaves the other question as it was [F4]", () =>
      Effect.gen(function*() {
        const raw = OfficialClient.raw(getUrl())
        const { taskId } = yield* createRaw(raw, "multi_input", {})
        const isAsking = (task: DetailedTaskV2) =>
          task.status === "input_required" && Object.keys(task.inputRequests).length === 2
        const asking = yield* pollUntil(raw, taskId, isAsking)
        const questions = asking.status === "input_required" ? asking.inputRequests : {}
        const [first = "", second = ""] = Object.keys(questions)
        const acknowledged = yield* raw("tasks/update", { taskId, inputResponses: { [first]: accept } })
        assert.isTrue(UpdateTaskResultV2Schema.safeParse(acknowledged).success)
        const half = GetTaskResultV2Schema.parse(yield* raw("tasks/get", { taskId }))
        assert.deepStrictEqual(half.status === "input_required" ? half.inputRequests : {}, {
          [second]: questions[second]
        })
        yield* raw("tasks/update", { taskId, inputResponses: { [second]: accept } })
        const ended = yield* pollUntil(raw, taskId, (task) => task.status !== "working")
        assert.strictEqual(ended.status, "completed")
      }))

    it.live("an unknown task is invalid params for get, update and cancel [E15]", () =>
      Effect.gen(function*() {
        const raw = OfficialClient.raw(getUrl())
        const taskId = "no-such-task"
        for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
          const error = yield* Effect.flip(raw(method, { taskId, inputResponses: {} }))
          assert.strictEqual(codeOf(error), -32602, method)
        }
      }))
  })

const execution = (getUrl: () => string) =>
  describe("execution", () => {
    it.live("a direct answer stays direct", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("greet", () => session.callTool("greet", { name: "Ada" }))
        assert.strictEqual(run.kind, "immediate")
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.deepStrictEqual(textsOf(completedResult(outcome)), ["Hello, Ada!"])
      }))

    it.live("a task is polled to completion", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("slow_compute", () =>
          session.callTool("slow_compute", { seconds: 0.2 }, { task: { preference: "require" } }))
        const events: Array<TaskExecutionEvent<unknown>> = []
        const { outcome, lastTask } = yield* OfficialClient.attempt("settle", () =>
          run.settle({
            onEvent: (event) => {
              events.push(event)
            }
          }))
        assert.isNotEmpty(textsOf(completedResult(outcome)))
        assert.strictEqual(lastTask?.status, "completed")
        assert.strictEqual(events.at(-1)?.type, "outcome")
      }))

    it.live("a tool error completes the task [E11]", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("failing_job", () => session.callTool("failing_job"))
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        const result = completedResult(outcome)
        assert.isTrue(result.isError)
        assert.isNotEmpty(textsOf(result))
      }))

    it.live("a protocol error fails the task with its code [E12]", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("protocol_error_job", () => session.callTool("protocol_error_job"))
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.strictEqual(outcome.status, "failed")
        // Without a code the session failed by itself, on an answer that it could not read.
        assert.isNumber(outcome.status === "failed" ? outcome.error.code : undefined)
        assert.strictEqual(outcome.task?.status, "failed")
      }))
  })

const resumption = (getUrl: () => string) =>
  describe("resumption", () => {
    it.live("another session resumes a task by its serialised reference [C7]", () =>
      Effect.gen(function*() {
        const reference = yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* OfficialClient.session(getUrl())
          const run = yield* OfficialClient.attempt("slow_compute", () =>
            session.callTool("slow_compute", { seconds: 0.5 }))
          assert.strictEqual(run.kind, "task")
          const serialized = run.kind === "task" ? run.serializeReference() : undefined
          yield* OfficialClient.attempt("detach", () => run.detach())
          // Until the detached run has settled, closing the session would still cancel its task.
          yield* OfficialClient.attempt("settle", () => run.result())
          return serialized
        }))
        assert.isDefined(reference)
        const session = yield* OfficialClient.session(getUrl())
        const resumed = yield* OfficialClient.attempt("resume", () => session.resumeTask(reference))
        const { outcome } = yield* OfficialClient.attempt("settle", () => resumed.settle())
        assert.isNotEmpty(textsOf(completedResult(outcome)))
      }))
  })

const input = (getUrl: () => string) =>
  describe("input", () => {
    it.live("a question is asked once and its answer completes the task", () =>
      Effect.gen(function*() {
        const asked: Array<string | undefined> = []
        const session = yield* OfficialClient.session(getUrl(), (request, context) => {
          asked.push(`${request.kind} ${context.scope} ${context.delivery}`)
          return Promise.resolve(Object({ action: "accept", content: { confirm: true } }))
        })
        const run = yield* OfficialClient.attempt("confirm_delete", () =>
          session.callTool("confirm_delete", { filename: "notes.txt" }))
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.isNotEmpty(textsOf(completedResult(outcome)))
        assert.deepStrictEqual(asked, ["elicitation task task-update"])
      }))

    it.live("two questions at once are answered under two keys", () =>
      Effect.gen(function*() {
        const keys: Array<string | undefined> = []
        const session = yield* OfficialClient.session(getUrl(), (_, context) => {
          keys.push(context.inputId)
          return Promise.resolve(Object(accept))
        })
        const run = yield* OfficialClient.attempt("multi_input", () => session.callTool("multi_input"))
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.isNotEmpty(textsOf(completedResult(outcome)))
        assert.strictEqual(keys.length, 2)
        assert.strictEqual(new Set(keys).size, 2)
      }))

    it.live("a host that cannot answer cancels the question, and the task still ends", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("confirm_delete", () =>
          session.callTool("confirm_delete", { filename: "notes.txt" }))
        const { lastTask } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.include(["completed", "failed", "cancelled"], lastTask?.status)
      }))
  })

const cancellation = (getUrl: () => string) =>
  describe("cancellation", () => {
    it.live("a working task ends as cancelled", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("slow_compute", () =>
          session.callTool("slow_compute", { seconds: 60 }))
        yield* OfficialClient.attempt("cancel", () => run.cancel())
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.strictEqual(outcome.status, "cancelled")
        yield* expectCancelled(getUrl, run)
      }))

    it.live("a task that waits for an answer ends as cancelled", () =>
      Effect.gen(function*() {
        const { promise: asked, resolve } = Promise.withResolvers<void>()
        const session = yield* OfficialClient.session(getUrl(), (_, { signal }) => {
          resolve()
          return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
        })
        const run = yield* OfficialClient.attempt("confirm_delete", () =>
          session.callTool("confirm_delete", { filename: "notes.txt" }))
        yield* OfficialClient.attempt("the question", () => asked)
        yield* OfficialClient.attempt("cancel", () => run.cancel())
        const { outcome } = yield* OfficialClient.attempt("settle", () => run.settle())
        assert.strictEqual(outcome.status, "cancelled")
        yield* expectCancelled(getUrl, run)
      }))

    it.live("a finished task acknowledges a cancel and stays as it is [G3]", () =>
      Effect.gen(function*() {
        const session = yield* OfficialClient.session(getUrl())
        const run = yield* OfficialClient.attempt("slow_compute", () =>
          session.callTool("slow_compute", { seconds: 0 }))
        const { lastTask } = yield* OfficialClient.attempt("settle", () => run.settle({ close: false }))
        assert.isDefined(lastTask)
        const controller = session.task(lastTask.taskId)
        yield* OfficialClient.attempt("cancel", () => controller.cancel())
        const snapshot = yield* OfficialClient.attempt("snapshot", () => controller.snapshot())
        assert.strictEqual(snapshot.status, "completed")
        assert.strictEqual(snapshot.lastUpdatedAt, lastTask.lastUpdatedAt)
      }))
  })

const undeclared = (getUrl: () => string) =>
  describe("a client that does not declare tasks", () => {
    it.live("is answered in line [C14, E1]", () =>
      Effect.gen(function*() {
        const client = yield* OfficialClient.connect(getUrl(), { elicitation: { form: {} } })
        const result = yield* OfficialClient.attempt("slow_compute", () =>
          client.callTool({ name: "slow_compute", arguments: { seconds: 0 } }))
        assert.isNotEmpty(textsOf(result))
      }))

    it.live("learns which capability a task-only tool needs [C9, E2]", () =>
      Effect.gen(function*() {
        const client = yield* OfficialClient.connect(getUrl(), { elicitation: { form: {} } })
        const error = yield* Effect.flip(OfficialClient.attempt("failing_job", () =>
          client.callTool({ name: "failing_job", arguments: {} })))
        assert.strictEqual(codeOf(error), -32021)
        assert.deepStrictEqual(Object(error.cause).data?.requiredCapabilities?.extensions, {
          [TASKS_EXTENSION_ID_V2]: {}
        })
      }))
  })

/**
 * Drives the server at `getUrl()` with the official client and task session; the URL is asked for when a test runs.
 *
 * The server must offer the tools greet, slow_compute, failing_job, protocol_error_job, confirm_delete, multi_input.
 */
export const officialClientSuite = (getUrl: () => string): void => {
  describe("official client", () => {
    negotiation(getUrl)
    wire(getUrl)
    execution(getUrl)
    resumption(getUrl)
    input(getUrl)
    cancellation(getUrl)
    undeclared(getUrl)
  })
}
