/**
 * A simulated client that writes its requests itself, in a process of its own, on the network.
 *
 * @since 0.2.0
 */
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as TaskError from "@effect-mcp-tasks/core/Task"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Client from "./Client.ts"
import type { Answer } from "./clientRules.ts"
import { Process } from "./Process.ts"
import type { ClientPlan, Lack } from "./Scenario.ts"
import type { Town } from "./Town.ts"

/** How long a client waits for an answer, in milliseconds. */
const timeoutMs = 5_000

const Reply = Schema.fromJsonString(Schema.Union([
  Schema.Struct({ result: Schema.JsonObject }),
  // What begins a stream.
  Schema.Struct({ method: Schema.String, params: Schema.JsonObject }),
  Schema.Struct({ error: TaskError.TaskError })
]))
const decodeReply = Schema.decodeUnknownSync(Reply)

const metaWithout = (lacks: Lack | undefined): Schema.JsonObject => ({
  [McpProtocol.MetaKey.protocolVersion]: McpProtocol.ProtocolVersion,
  [McpProtocol.MetaKey.clientCapabilities]: {
    ...lacks === "elicitation" ? {} : { elicitation: {} },
    ...lacks === "tasks" ? {} : { extensions: { [McpProtocol.TasksExtension]: {} } }
  }
})

/** Sends a request to any server, and waits for the first answer that comes; `undefined` is none. */
const sender = ({ auditor, network, story }: Town, client: Process, owner: TaskOwner.TaskOwner) =>
(method: string, params: Schema.JsonObject, lacks?: Lack): Effect.Effect<Answer | undefined> =>
  Effect.callback((resume) => {
    const sent = auditor.sent(owner, method, params, lacks)
    story.asks(client.name, method, params)
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: metaWithout(lacks) } })
    let isOver = false
    const finish = (answer: Answer | undefined) => {
      if (isOver) return
      isOver = true
      story.hears(client.name, method, answer)
      resume(Effect.succeed(answer))
    }
    network.send({ client, from: client.name, owner, body, headers: undefined }, {
      onMessage: (text, server) => {
        if (isOver) return
        const said = decodeReply(text)
        const answer = "method" in said ? { result: said.params } : said
        auditor.answered(sent, server, answer)
        finish(answer)
      },
      onBroken: () => finish(undefined)
    })
    client.after(timeoutMs, () => finish(undefined))
  })

/**
 * Lets a client live.
 *
 * @since 0.2.0
 */
export const start = (town: Town, plan: ClientPlan, index: number): void => {
  const { auditor, clients, dice, onFault, scenario, world } = town
  const name = `client ${index + 1}`
  const owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: plan.owner })
  const key = TaskOwner.key(owner)
  const process = new Process(world, {
    name,
    dice: dice.stream(name),
    aheadMs: 0,
    pace: 1,
    maxTurn: 2048,
    onError: (text, cause) => auditor.broke(name, text, cause),
    services: Context.empty()
  })
  clients.active++
  process.run(
    Client.behave({
      send: sender(town, process, owner),
      saw: (taskId, task) => auditor.saw(name, taskId, task),
      foreign: () =>
        [...auditor.files.values()].flatMap(({ now }) => now === undefined || now.owner === key ? [] : [now.taskId]),
      isSteady: scenario.isSteady,
      onFault,
      onOutcome: (outcome) => {
        world.note(name, outcome)
        auditor.coverage.add("outcomes", outcome)
      }
    }, plan),
    (exit) => {
      clients.active--
      if (exit._tag === "Failure") auditor.broke(name, "it broke", exit.cause)
    }
  )
}
