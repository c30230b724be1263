/**
 * The commands that talk to a server: `discover`, `tools`, `call`, `get`, `watch`, `answer` and `cancel`.
 *
 * @since 0.2.0
 */
import * as InputHandler from "@effect-mcp-tasks/client/InputHandler"
import * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import type { TaskHandle } from "@effect-mcp-tasks/client/TaskHandle"
import * as TaskView from "@effect-mcp-tasks/core/TaskView"
import * as WireError from "@effect-mcp-tasks/core/WireError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Answers from "../Answers.ts"
import * as CliFailure from "../CliFailure.ts"
import * as Output from "../Output.ts"
import * as Target from "../Target.ts"
import * as Watching from "../Watching.ts"

type Failed = TaskClientError.TaskClientError | TaskClientError.NotOutstanding | CliFailure.CliFailure

const failedBy = (error: Failed, server: string): CliFailure.CliFailure => {
  switch (error._tag) {
    case "CliFailure":
      return error
    case "NotOutstanding":
      return CliFailure.usage(error.message)
    default:
      return CliFailure.fromClient(error, server)
  }
}

/** Runs a command against its server. */
const against = Effect.fnUntraced(function*<A, R>(
  given: Target.Input,
  run: (target: Target.Target, client: TaskClient.TaskClient["Service"]) => Effect.Effect<A, Failed, R>
) {
  const target = yield* Target.of(given)
  return yield* TaskClient.TaskClient.pipe(
    Effect.flatMap((client) => run(target, client)),
    Effect.mapError((error) => failedBy(error, target.name)),
    Effect.provide(target.client)
  )
})

/** A server that does not know a task says so with one code, whatever was asked of it. */
const ofTask = <A, R>(taskId: string, effect: Effect.Effect<A, TaskClientError.RequestError, R>) =>
  Effect.mapError(effect, (error) =>
    error._tag === "ProtocolError" && error.error.code === WireError.Code.InvalidParams
      ? new TaskClientError.TaskExpired({ taskId, error: error.error })
      : error)

/**
 * `discover`: what a server says of itself.
 *
 * @category commands
 * @since 0.2.0
 */
export const discover = Command.make("discover", Target.input, (given) =>
  against(given, (target, client) =>
    Effect.gen(function*() {
      yield* Target.named(target)
      const { capabilities, instructions, name, offersTasks, supportedVersions, version } = yield* client.discover
      if (given.json) {
        return yield* Output.json({ name, version, instructions, supportedVersions, capabilities, offersTasks })
      }
      yield* Output.print(Output.plain([
        Output.oneLine(`${name ?? "a server without a name"} ${version ?? ""}`.trim()),
        `versions ${supportedVersions.join(", ")}`,
        `tasks    ${offersTasks ? "yes" : "no"}`,
        ...(instructions === undefined ? [] : ["", instructions])
      ].join("\n")))
    }))).pipe(
    Command.withDescription("Say what a server is and offers"),
    Command.withExamples([{ command: "mcp-tasks discover http://127.0.0.1:3334/mcp" }])
  )

const toolLine = (tool: Schema.JsonObject): string => {
  const { description, inputSchema, name } = tool
  const properties = (inputSchema as { readonly properties?: Schema.JsonObject } | undefined)?.properties ?? {}
  const about = typeof description === "string" ? description : ""
  return `${Output.oneLine(`${String(name)} {${Object.keys(properties).join(", ")}}`)}${
    about === "" ? "" : `\n    ${Output.plain(about).replaceAll("\n", "\n    ")}`
  }`
}

/**
 * `tools`: the tools of a server.
 *
 * @category commands
 * @since 0.2.0
 */
export const tools = Command.make("tools", Target.input, (given) =>
  against(given, (target, client) =>
    Effect.gen(function*() {
      yield* Target.named(target)
      const found = yield* client.tools
      if (given.json) return yield* Output.json(found)
      yield* Output.print(found.length === 0 ? "The server has no tools" : found.map(toolLine).join("\n"))
    }))).pipe(
    Command.withDescription("List the tools of a server, and what they take"),
    Command.withExamples([
      { command: "mcp-tasks tools http://127.0.0.1:3334/mcp" },
      { command: "mcp-tasks tools --stdio \"node server.js\" --json" }
    ])
  )

const Arguments = Schema.fromJsonString(Schema.JsonObject)

const standardInput = Effect.flatMap(Stdio.Stdio, ({ stdin }) => Stream.mkString(Stream.decodeText(stdin)))

/** The arguments of a call: JSON, `-` for the standard input, or nothing for none. */
const argumentsOf = Effect.fnUntraced(function*(text: string | undefined) {
  if (text === undefined) return {}
  const source = text === "-"
    ? yield* Effect.mapError(standardInput, () => CliFailure.usage("The standard input cannot be read"))
    : text
  if (text === "-" && source.trim() === "") {
    return yield* CliFailure.usage("The standard input is empty", `Give it the arguments: echo '{"rows":42}' |`)
  }
  return yield* Effect.mapError(Schema.decodeEffect(Arguments)(source), () =>
    CliFailure.usage(
      `The arguments are not a JSON object: ${Output.plain(source.slice(0, 200))}`,
      text === "-" ? undefined : `Put them in single quotes, as in '{"rows":42}'`
    ))
})

/** Shows a task while it goes on, and gives its result. */
const follow = <E extends TaskClientError.InputRefused>(
  handle: TaskHandle<TaskClientError.ToolResult, E>,
  options: { readonly json: boolean; readonly isQuiet: boolean; readonly questions: boolean }
) => {
  const shown = options.isQuiet || Option.isNone(handle.id) ? Effect.void : Watching.show(handle, options)
  return Effect.flatMap(
    Effect.all([Effect.exit(handle.await), shown], { concurrency: "unbounded" }),
    ([end]) => end
  )
}

/** How long an interrupted command waits for the server to take its cancel. */
const cancelGrace = "3 seconds"

/** What an interrupted call does about its task: where somebody turned away it is not wanted, else it may go on. */
const abandon = Effect.fnUntraced(function*(
  { cancel, id }: TaskHandle<TaskClientError.ToolResult, TaskClientError.InputRefused>,
  options: { readonly isLeft: boolean; readonly json: boolean; readonly server: string }
) {
  if (Option.isNone(id)) return
  const { isLeft, json, server } = options
  const taskId = id.value
  const again = `Look again with \`mcp-tasks watch ${server} ${CliFailure.shellWord(taskId)}\``
  const note = (message: string, hint: string | undefined) =>
    Output.note({ message, exitCode: interruptedCode, hint, taskId }, json)
  if (isLeft) return yield* note(`Interrupted; task ${taskId} goes on`, again)
  const asked = yield* Effect.result(Effect.timeout(cancel, cancelGrace))
  yield* Result.isSuccess(asked)
    ? note(`Interrupted; task ${taskId} was asked to stop`, undefined)
    : note(`Interrupted; task ${taskId} could not be cancelled and may go on: ${asked.failure.message}`, again)
})

const interruptedCode = 130

const call = Command.make(
  "call",
  {
    ...Target.input,
    ...Answers.input,
    detach: Flag.Boolean("detach").pipe(
      Flag.withDescription("Print the id of the task and leave it to run"),
      Flag.withDefault(false)
    )
  },
  (given) =>
    against(given, (target, client) =>
      Effect.gen(function*() {
        const [tool, text, surplus] = target.rest
        if (tool === undefined) {
          return yield* CliFailure.usage("TOOL is missing", "`mcp-tasks tools` shows what there is")
        }
        if (surplus !== undefined) return yield* CliFailure.usage(`${JSON.stringify(surplus)} is one argument too many`)
        const args = yield* argumentsOf(text)
        const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
        const onInput = given.detach ? InputHandler.manual : yield* Answers.handler(given)
        // Where nobody could be asked, the task stays to be answered; where somebody turned away, it is not wanted.
        const isLeft = given.detach || !canPrompt
        const handle = yield* client.start(tool, args, { onInput, onInterrupt: isLeft ? "leave" : "cancel" })
        if (given.detach && Option.isSome(handle.id)) {
          const taskId = handle.id.value
          return yield* given.json ? Output.json({ taskId }) : Output.print(Output.oneLine(taskId))
        }
        const result = yield* Effect.onInterrupt(
          follow(handle, { json: false, isQuiet: given.json, questions: false }),
          () => abandon(handle, { isLeft, json: given.json, server: target.name })
        )
        yield* Output.result(result, given.json)
      }).pipe(Effect.scoped))
).pipe(
  Command.withDescription("Call a tool, answer its questions, and print its result"),
  Command.withExamples([
    { command: `mcp-tasks call http://127.0.0.1:3334/mcp export_report '{"rows":48210}'` },
    {
      command: `mcp-tasks call http://127.0.0.1:3334/mcp export_report '{"rows":42}' --answer overwrite=true`,
      description: "Answer in advance"
    },
    {
      command: `mcp-tasks call http://127.0.0.1:3334/mcp export_report '{"rows":42}' --detach`,
      description: "Go on with `watch` and `answer`"
    },
    { command: `mcp-tasks call --stdio "node server.js" export_report '{"rows":42}'` }
  ])
)

const get = Command.make("get", Target.input, (given) =>
  against(given, (target, client) =>
    Effect.gen(function*() {
      const [taskId] = yield* Target.named(target, "TASK")
      const view = yield* client.get(taskId)
      yield* given.json ? Output.json(Output.viewAsJson(view)) : Output.print(Output.details(view))
    }))).pipe(
    Command.withDescription("Look at a task once"),
    Command.withExamples([{ command: "mcp-tasks get http://127.0.0.1:3334/mcp TASK --json" }])
  )

const watch = Command.make("watch", Target.input, (given) =>
  against(given, (target, client) =>
    Effect.gen(function*() {
      const [taskId] = yield* Target.named(target, "TASK")
      const handle = yield* client.resume(taskId, { onInput: InputHandler.manual })
      const result = yield* follow(handle, { json: given.json, isQuiet: false, questions: true })
      if (!given.json) yield* Output.result(result, false)
    }).pipe(Effect.scoped))).pipe(
    Command.withDescription("Watch a task until it has ended, and print its result"),
    Command.withExamples([{ command: "mcp-tasks watch http://127.0.0.1:3334/mcp TASK" }])
  )

const answer = Command.make("answer", { ...Target.input, ...Answers.input }, (given) =>
  against(given, (target, client) =>
    Effect.gen(function*() {
      const [taskId, ...pairs] = target.rest
      if (taskId === undefined) return yield* CliFailure.usage("TASK is missing")
      const wrong = pairs.find((pair) => !pair.includes("="))
      if (wrong !== undefined) return yield* CliFailure.usage(`${JSON.stringify(wrong)} is not FIELD=VALUE`)
      const said = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2)))
      const onInput = yield* Answers.handler({
        ...given,
        answer: Option.some({ ...Option.getOrElse(given.answer, () => ({})), ...said })
      })
      const view = yield* client.get(taskId)
      if (view.status !== "input_required") {
        return yield* CliFailure.usage(`Task ${taskId} asks nothing: it is ${view.status}`)
      }
      const responses: Record<string, Schema.JsonObject> = {}
      for (const [key, { method, params = {} }] of view.inputRequests) {
        responses[key] = yield* onInput.answer({
          key,
          method,
          params,
          server: target.name,
          tool: undefined,
          taskId,
          isRepeated: false
        })
      }
      yield* ofTask(taskId, client.update(taskId, responses))
      yield* given.json
        ? Output.json({ taskId, answered: Object.keys(responses) })
        : Output.print(`Answered ${Object.keys(responses).map(Output.oneLine).join(", ")}`)
    }))).pipe(
    Command.withDescription("Answer the questions of a task"),
    Command.withExamples([
      { command: "mcp-tasks answer http://127.0.0.1:3334/mcp TASK overwrite=true" },
      { command: "mcp-tasks answer http://127.0.0.1:3334/mcp TASK --decline" }
    ])
  )

const cancel = Command.make("cancel", Target.input, (given) =>
  against(given, (target, client) =>
    Effect.gen(function*() {
      const [taskId] = yield* Target.named(target, "TASK")
      yield* ofTask(taskId, client.cancel(taskId))
      const view = yield* client.get(taskId)
      if (given.json) return yield* Output.json(Output.viewAsJson(view))
      yield* Output.print(
        TaskView.isTerminal(view) ? Output.line(view) : "The task was asked to stop; it may still end otherwise"
      )
    }))).pipe(
    Command.withDescription("Ask a task to stop"),
    Command.withExamples([{ command: "mcp-tasks cancel http://127.0.0.1:3334/mcp TASK" }])
  )

/**
 * All commands that talk to a server.
 *
 * @category commands
 * @since 0.2.0
 */
export const all = [call, get, watch, answer, cancel, tools, discover] as const
