/**
 * A simulated world with everything in it: servers, clients, the store between them, and what goes wrong when.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import { Auditor, type Sought } from "./Auditor.ts"
import { CallAuditor } from "./CallAuditor.ts"
import { Coverage } from "./Coverage.ts"
import { Database } from "./Database.ts"
import { Dice } from "./Dice.ts"
import { type FaultName, rateNames } from "./Faults.ts"
import { LibraryClient } from "./LibraryClient.ts"
import { Network } from "./Network.ts"
import { Process } from "./Process.ts"
import * as Remote from "./Remote.ts"
import { runners } from "./runners.ts"
import type { Scenario, ServerPlan, Trouble } from "./Scenario.ts"
import * as ScriptedClient from "./ScriptedClient.ts"
import * as ScenarioText from "./ScenarioText.ts"
import { type Runner, Server } from "./Server.ts"
import { Shared } from "./SharedServices.ts"
import { CurrentWitness } from "./Tools.ts"
import { Story } from "./Story.ts"
import type { Town } from "./Town.ts"
import { Weather } from "./Weather.ts"
import { World } from "./World.ts"

/** How long it takes until a process that took itself away is started again, in milliseconds. */
const restartMs = 500

/**
 * What a world is run with.
 *
 * @since 0.1.0
 */
export interface Options extends Sought {
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
  private readonly calls: CallAuditor
  /** The clients with the library, by their number. */
  private readonly library = new Map<number, LibraryClient>()
  private readonly scenario: Scenario
  private readonly dice: Dice
  private readonly weather: Weather
  private readonly servers: ReadonlyArray<Server>
  private readonly story: Story
  private isCalm = false

  constructor(scenario: Scenario, { isTold, ...sought }: Options) {
    const runner = runners[scenario.runner]
    this.scenario = scenario
    this.dice = new Dice(scenario.seed)
    this.world = new World(this.dice.stream("world"), isTold)
    this.auditor = new Auditor(this.world, new Coverage(), runner, sought)
    this.calls = new CallAuditor(this.auditor)
    this.story = new Story(this.world, (taskId) => this.auditor.file(taskId).name)
    this.weather = new Weather(this.world, this.dice.stream("weather"), {
      rates: scenario.rates,
      calmAtMs: scenario.calmAtMs,
      isSteady: scenario.isSteady,
      onFault: this.onFault
    })
    const database = new Database(this.auditor)
    const shared = new Shared(this.world)
    const remote = (process: Process) => Remote.make(this.world, this.weather, process)
    this.servers = scenario.servers.map((plan, index): Server =>
      new Server({
        runner,
        fork: (start) => this.forkServer({ ...plan, followsMs: runner.followsMs }, index, start),
        store: (process) => database.connect(process, remote(process)),
        shared: (process) => shared.connect(process, remote(process)),
        around: (process, engine) => this.auditor.around(process, engine),
        onLeft: (process, served) => this.auditor.left(process, served),
        onDefect: (text) => this.auditor.object("defect", `server ${index + 1} cannot start: ${text}`),
        publish: (taskId) => this.publish(taskId)
      })
    )
    this.startClients()
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
    this.calls.calm()
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
      onError: (text, cause) => {
        this.story.logs(name, text)
        if (text.includes("A request broke")) this.auditor.broke(name, text, cause)
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

  private startClients(): void {
    const { auditor, clients, dice, onFault, scenario, story, world } = this
    const network = new Network(this.weather, this.servers)
    const town: Town = { world, scenario, dice, network, auditor, calls: this.calls, story, onFault, clients }
    scenario.clients.forEach((plan, index) => {
      const { library } = plan
      if (library === undefined) ScriptedClient.start(town, plan, index)
      else this.library.set(index, new LibraryClient(town, { ...plan, library }, index))
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
      case "client-crash":
        return this.library.get(trouble.client)?.crash(Math.min(trouble.forMs, this.scenario.calmAtMs - this.world.now))
      case "client-jump":
        return this.library.get(trouble.client)?.jump(trouble.byMs)
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
