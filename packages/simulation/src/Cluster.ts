/**
 * A simulated world with everything in it: servers, clients, the store between them, and what goes wrong when.
 *
 * @since 0.1.0
 */
import * as McpProtocol from "@effect-mcp-tasks/core/McpProtocol"
import * as TaskError from "@effect-mcp-tasks/core/Task"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RuleName } from "./Audit.ts"
import { Auditor } from "./Auditor.ts"
import * as Client from "./Client.ts"
import type { Answer } from "./clientRules.ts"
import { Coverage } from "./Coverage.ts"
import { Database } from "./Database.ts"
import { Dice } from "./Dice.ts"
import { type FaultName, rateNames } from "./Faults.ts"
import { Process } from "./Process.ts"
import * as Remote from "./Remote.ts"
import { runners } from "./runners.ts"
import type { ClientPlan, Scenario, ServerPlan, Trouble } from "./Scenario.ts"
import * as ScenarioText from "./ScenarioText.ts"
import { type Runner, Server } from "./Server.ts"
import { Shared } from "./SharedServices.ts"
import { CurrentWitness } from "./Tools.ts"
import { Story } from "./Story.ts"
import { Weather } from "./Weather.ts"
import { World } from "./World.ts"

/** How long a client waits for an answer, in milliseconds. */
const timeoutMs = 5_000

/** How long it takes until a process that took itself away is started again, in milliseconds. */
const restartMs = 500

const Reply = Schema.fromJsonString(Schema.Union([
  Schema.Struct({ result: Schema.JsonObject }),
  Schema.Struct({ error: TaskError.TaskError })
]))
const decodeReply = Schema.decodeUnknownSync(Reply)

const _meta: Schema.JsonObject = {
  [McpProtocol.MetaKey.protocolVersion]: McpProtocol.ProtocolVersion,
  [McpProtocol.MetaKey.clientCapabilities]: { elicitation: {}, extensions: { [McpProtocol.TasksExtension]: {} } }
}

/**
 * What a world is run with.
 *
 * @since 0.1.0
 */
export interface Options {
  /** The rules of the auditor; all unless given. */
  readonly rules?: ReadonlySet<RuleName> | undefined
  /** Whether the history holds what clients say and hear, and every fault; false. */
  readonly isTold?: boolean | undefined
}

/** The others are told when they begin. */
const isOfMessages = (name: FaultName): boolean => rateNames.some((rate) => rate === name)

/** A trouble of one server. */
type TroubleAt = Extract<Trouble, { readonly server: number }>

/**
 * A simulated world with everything in it.
 *
 * @since 0.1.0
 */
export class Cluster {
  readonly world: World
  readonly auditor: Auditor
  readonly clients = { active: 0 }
  private readonly scenario: Scenario
  private readonly dice: Dice
  private readonly weather: Weather
  private readonly servers: ReadonlyArray<Server>
  private readonly story: Story
  private isCalm = false

  constructor(scenario: Scenario, { isTold, rules }: Options) {
    const runner = runners[scenario.runner]
    this.scenario = scenario
    this.dice = new Dice(scenario.seed)
    this.world = new World(this.dice.stream("world"), isTold)
    this.auditor = new Auditor(this.world, new Coverage(), runner, rules)
    this.story = new Story(this.world, (taskId) => this.auditor.file(taskId).name)
    this.weather = new Weather(this.world, this.dice.stream("weather"), {
      rates: scenario.rates,
      calmAtMs: scenario.calmAtMs,
      isSteady: scenario.isSteady,
      onFault: this.onFault
    })
    const database = new Database(this.auditor.onWrite)
    const shared = new Shared(this.world)
    const remote = (process: Process) => Remote.make(this.world, this.weather, process)
    this.servers = scenario.servers.map((plan, index): Server =>
      new Server({
        runner,
        fork: (start) => this.forkServer({ ...plan, followsMs: runner.followsMs }, index, start),
        store: (process) => database.connect(process, remote(process)),
        shared: (process) => shared.connect(process, remote(process)),
        around: (process, engine) => this.auditor.around(process, engine),
        onDefect: (text) => this.auditor.object("defect", `server ${index + 1} cannot start: ${text}`),
        publish: (taskId) => this.publish(taskId)
      })
    )
    scenario.clients.forEach((plan, index) => this.startClient(plan, index))
    for (const trouble of scenario.troubles) this.world.after(trouble.atMs, () => this.suffer(trouble))
  }

  /** Everything is up again, and nothing goes wrong from now on. */
  readonly heal = (): void => {
    this.isCalm = true
    this.world.calmSinceMs = this.world.now
    this.world.note("world", "calm")
    for (const server of this.servers) if (!server.process.isAlive) server.start()
  }

  /** Has the auditor look at everything, after a time of calm. */
  readonly look = (): void => {
    const { findsOrphans } = runners[this.scenario.runner]
    this.auditor.calm(findsOrphans, this.servers.map(({ process }) => process).filter(({ isAlive }) => isAlive))
  }

  private readonly onFault = (name: FaultName): void => {
    if (isOfMessages(name)) this.world.tell("fault", () => name)
    this.auditor.coverage.add("faults", name)
  }

  private forkServer(plan: ServerPlan & Pick<Runner, "followsMs">, index: number, start: number): Process {
    const name = `server ${index + 1}${start === 0 ? "" : `.${start + 1}`}`
    if (plan.pace !== 1) this.onFault("clock-drift")
    const witness = {
      began: (taskId: string, attempt: number) => this.auditor.witness(process, crash).began(taskId, attempt)
    }
    const crash = () => this.crashItself(index, process)
    const process: Process = new Process(this.world, {
      ...plan,
      name,
      dice: this.dice.stream(name),
      maxTurn: this.scenario.maxTurn,
      onError: (text) => {
        this.story.logs(name, text)
        if (text.includes("A request broke")) this.auditor.object("defect", `${name}: ${text}`)
      },
      services: Context.make(CurrentWitness, witness)
    })
    this.world.note(name, "starts")
    return process
  }

  /** A tool takes its process with it, at the end of the current turn: it cannot go on. */
  private crashItself(index: number, process: Process): void {
    const server = this.servers[index]
    if (this.isCalm || server === undefined || server.process !== process) return
    this.onFault("tool-crash")
    this.world.note(process.name, "is crashed by a tool")
    server.crash()
    this.world.after(restartMs, () => this.restart(server))
  }

  private restart(server: Server): void {
    if (!server.process.isAlive) server.start()
  }

  private publish(taskId: string): void {
    for (const server of this.servers) {
      for (const ms of this.weather.signal()) this.world.after(ms, () => server.hear(taskId))
    }
  }

  private startClient(plan: ClientPlan, index: number): void {
    const name = `client ${index + 1}`
    const owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: plan.owner })
    const key = TaskOwner.key(owner)
    const process = new Process(this.world, {
      name,
      dice: this.dice.stream(name),
      aheadMs: 0,
      pace: 1,
      maxTurn: 2048,
      onError: (text) => this.auditor.object("defect", `${name}: ${text}`),
      services: Context.empty()
    })
    this.clients.active++
    process.run(
      Client.behave({
        send: (method, params) => this.send(process, owner, { method, params }),
        saw: (taskId, task) => this.auditor.saw(name, taskId, task),
        foreign: () =>
          [...this.auditor.files.values()].flatMap(({ now }) =>
            now === undefined || now.owner === key ? [] : [now.taskId]
          ),
        isSteady: this.scenario.isSteady,
        onFault: this.onFault,
        onOutcome: (outcome) => {
          this.world.note(name, outcome)
          this.auditor.coverage.add("outcomes", outcome)
        }
      }, plan),
      (exit) => {
        this.clients.active--
        if (exit._tag === "Failure") this.auditor.object("defect", `${name}: ${String(exit.cause)}`)
      }
    )
  }

  /** Sends a request to any server, and waits for the first answer that comes. */
  private send(
    client: Process,
    owner: TaskOwner.TaskOwner,
    { method, params }: { readonly method: string; readonly params: Schema.JsonObject }
  ): Effect.Effect<Answer | undefined> {
    return Effect.callback((resume) => {
      const index = client.dice.between(0, this.servers.length - 1)
      const server = this.servers[index] as Server
      const sent = this.auditor.sent(owner, method, params)
      this.story.asks(client.name, method, params)
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } })
      const fate = this.weather.request(client.name, `server ${index + 1}`)
      let isOver = false
      const finish = (answer: Answer | undefined) => {
        isOver = true
        this.story.hears(client.name, method, answer)
        resume(Effect.succeed(answer))
      }
      const deliver = () => {
        const { process } = server
        const abort = server.handle(body, owner, (text) => {
          if (fate.backMs === undefined) return
          client.after(fate.backMs, () => {
            if (isOver) return
            const answer = text === undefined ? undefined : decodeReply(text)
            if (answer !== undefined) this.auditor.answered(sent, process, answer)
            finish(answer)
          })
        })
        if (fate.abortMs !== undefined) this.world.after(fate.abortMs, abort)
      }
      for (const ms of fate.arrivesMs) this.world.after(ms, deliver)
      client.after(timeoutMs, () => {
        if (!isOver) finish(undefined)
      })
    })
  }

  private suffer(trouble: Trouble): void {
    this.world.note("world", ScenarioText.printTrouble(trouble))
    switch (trouble.kind) {
      case "outage":
        return this.weather.close("store", trouble.forMs)
      case "silence":
        return this.weather.close("signals", trouble.forMs)
      case "spell":
        return this.weather.close(trouble.what, trouble.forMs)
      default:
        return this.sufferAt(trouble, this.servers[trouble.server] as Server)
    }
  }

  private sufferAt(trouble: TroubleAt, server: Server): void {
    switch (trouble.kind) {
      case "isolation":
        return this.weather.close(`store of ${server.process.name}`, trouble.forMs)
      case "partition":
        return this.weather.close(`client ${trouble.client + 1} to server ${trouble.server + 1}`, trouble.forMs)
      case "jump":
        this.onFault(trouble.byMs < 0 ? "clock-jump-back" : "clock-jump-forward")
        return server.process.jump(trouble.byMs)
      default: {
        if (!server.process.isAlive) return
        this.onFault(trouble.kind === "crash" ? "server-crash" : "server-shutdown")
        const restart = () => this.world.after(this.isCalm ? 0 : trouble.forMs, () => this.restart(server))
        if (trouble.kind === "shutdown") return server.shutdown(restart)
        server.crash()
        restart()
      }
    }
  }
}
