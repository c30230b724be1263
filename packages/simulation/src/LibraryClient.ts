/**
 * A simulated client that calls through the client library, in a process that dies and comes back.
 *
 * The library is the real one; only what carries its messages is simulated. What it remembers of open tasks outlives
 * its processes, and each of them goes on with what is open.
 *
 * @since 0.2.0
 */
import * as TaskClient from "@effect-mcp-tasks/client/TaskClient"
import * as TaskClientError from "@effect-mcp-tasks/client/TaskClientError"
import * as TaskHandleStore from "@effect-mcp-tasks/client/TaskHandleStore"
import * as Transport from "@effect-mcp-tasks/client/Transport"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { type CallFile, CurrentCall } from "./CallFile.ts"
import * as LibraryUser from "./LibraryUser.ts"
import { Process } from "./Process.ts"
import type { ClientPlan, LibraryPlan } from "./Scenario.ts"
import type { Town } from "./Town.ts"

/** How long the library waits for the answer to a request, in milliseconds. */
const requestTimeout = 5_000

/** What the library calls the servers in its memory. */
const server = "simulated"

/** How long the library may take to remember a task, in milliseconds. */
const noticeMs = 1_000

/**
 * A simulated client that calls through the client library.
 *
 * @since 0.2.0
 */
export class LibraryClient {
  private readonly town: Town
  private readonly plan: ClientPlan
  private readonly library: LibraryPlan
  private readonly place: string
  private readonly owner: TaskOwner.TaskOwner
  private readonly memory = Effect.runSync(Effect.scoped(
    Layer.build(TaskHandleStore.layer.pipe(Layer.provide(Layer.fresh(KeyValueStore.layerMemory))))
  ))
  private readonly files = new Map<number, CallFile>()
  private starts = 0
  private isDone = false
  private process: Process

  constructor(town: Town, plan: ClientPlan & { readonly library: LibraryPlan }, index: number) {
    this.town = town
    this.plan = plan
    this.library = plan.library
    this.place = `client ${index + 1}`
    this.owner = TaskOwner.principal({ issuer: "https://issuer.example", subject: plan.owner })
    town.clients.active++
    this.process = this.start()
  }

  /** Dies, and comes back after so many milliseconds. */
  crash(forMs: number): void {
    if (this.isDone || !this.process.isAlive) return
    this.town.onFault("client-crash")
    this.process.crash()
    this.town.calls.died(this.files.values())
    this.town.world.after(forMs, () => {
      this.process = this.start()
    })
  }

  /** Sets its clock. */
  jump(byMs: number): void {
    this.town.onFault("client-clock-jump")
    this.process.jump(byMs)
    this.town.calls.jumped(this.files.values())
  }

  private start(): Process {
    const { auditor, clients, dice, scenario, world } = this.town
    const name = this.starts === 0 ? this.place : `${this.place}.${this.starts + 1}`
    this.starts++
    const process = new Process(world, {
      ...this.library,
      name,
      dice: dice.stream(name),
      maxTurn: scenario.maxTurn,
      onError: (text, cause) => auditor.broke(name, text, cause),
      services: this.memory
    })
    const transport = Layer.succeed(Transport.Transport, {
      isAmbiguous: false,
      send: (request) => this.send(process, request)
    })
    const layer = TaskClient.layer({
      name: "simulated",
      version: "0",
      server,
      requestTimeout,
      retryFor: this.library.patienceMs,
      // So that what is wrong at the beginning does not keep every other call from being made.
      firstContact: this.library.patienceMs
    })
    const living = Effect.provide(this.live(process), Layer.provide(layer, transport))
    process.run(living, (exit) => {
      this.isDone = true
      clients.active--
      if (exit._tag === "Failure") auditor.broke(name, "it broke", exit.cause)
    })
    return process
  }

  /** Goes on with what is open, and makes the calls that have not been made yet, each at its time. */
  private readonly live = Effect.fnUntraced(function*(this: LibraryClient, process: Process) {
    const { calls, onFault, scenario, world } = this.town
    const client = yield* TaskClient.TaskClient
    const port: LibraryUser.LibraryPort = {
      client,
      process,
      auditor: calls,
      isSteady: scenario.isSteady,
      onFault,
      onLeft: (file) => this.thenLooks(process, file),
      onOutcome: (outcome) => {
        world.note(process.name, outcome)
        this.town.auditor.coverage.add("outcomes", outcome)
      }
    }
    const open = yield* client.open
    const known = [...this.files.values()].filter(({ taskId }) => taskId !== undefined && open.includes(taskId))
    const resumed = known.map((file) => Effect.suspend(() => {
      calls.resumes(file)
      return LibraryUser.resume(port, file, String(file.taskId))
    }))
    const made = this.plan.calls.map((call, index) => Effect.suspend(() => {
      if (this.files.has(index)) return Effect.void
      return Effect.andThen(Effect.sleep(Math.max(0, call.atMs - world.now)), Effect.suspend(() => {
        const file = calls.open(this.place, call, this.library.patienceMs)
        this.files.set(index, file)
        return LibraryUser.call(port, file)
      }))
    }))
    yield* Effect.all([...resumed, ...made], { concurrency: "unbounded", discard: true })
  }).bind(this)

  /** Looks after a while whether a task that was left when its caller went is remembered: it can be resumed. */
  private thenLooks(process: Process, file: CallFile): void {
    const { calls } = this.town
    const { lives } = file
    const listed = Effect.flatMap(TaskHandleStore.TaskHandleStore, (store) => store.list(server))
    const open = Effect.provide(listed, this.memory)
    process.after(noticeMs, () =>
      process.run(open, (exit) => {
        if (Exit.isFailure(exit) || file.lives !== lives) return
        calls.isLeft(file, exit.value.map(({ taskId }) => taskId))
      }))
  }

  /** Carries a request of the library to any server, and back what is said to it. */
  private send(process: Process, request: Transport.Outgoing): Messages {
    return Stream.unwrap(Effect.map(CurrentCall, (file): Messages =>
      Stream.callback((queue) =>
        Effect.acquireRelease(
          Effect.sync(() => this.carry(process, { request, file, queue })),
          (leave) => Effect.sync(leave)
        )
      )))
  }

  private carry(process: Process, { file, queue, request }: Carried): () => void {
    const { auditor, calls, network, story } = this.town
    const { body, headers, method, params } = request
    const sent = auditor.sent(this.owner, method, params)
    story.asks(process.name, method, params)
    if (file !== undefined) calls.sends(file, method, params)
    let isOver = false
    const fails = () => {
      isOver = true
      if (file !== undefined) calls.misses(file, request)
    }
    const letter = { client: process, from: this.place, owner: this.owner, body, headers: lower(headers) }
    const leave = network.send(letter, {
      onMessage: (text, server) => {
        if (isOver) return
        const message = Effect.runSync(Transport.readMessage(method, text))
        Queue.offerUnsafe(queue, message)
        if (message._tag === "Notification" && file !== undefined) calls.notified(file, message.method, message.params)
        if (message._tag !== "Success" && message._tag !== "Failure") return
        isOver = true
        Queue.endUnsafe(queue)
        const answer = message._tag === "Success" ? { result: message.result } : { error: message.error }
        auditor.answered(sent, server, answer)
        story.hears(process.name, method, answer)
        if (file === undefined) return
        calls.hears(file, request, answer, process.time)
        if (file.isOver && method === "tools/call") this.thenLooks(process, file)
      },
      onBroken: () => {
        if (isOver) return
        fails()
        const detail = "the connection broke"
        Queue.failCauseUnsafe(queue, Cause.fail(new TaskClientError.TransportError({ method, reason: "Lost", detail })))
      }
    })
    return () => {
      if (isOver) return
      fails()
      leave()
    }
  }
}

type Messages = Stream.Stream<Transport.Incoming, TaskClientError.TransportError>

/** A request that is carried, and where what is said to it goes. */
interface Carried {
  readonly request: Transport.Outgoing
  readonly file: CallFile | undefined
  readonly queue: Queue.Queue<Transport.Incoming, TaskClientError.TransportError | Cause.Done>
}

const lower = (headers: Transport.Outgoing["headers"]): Transport.Outgoing["headers"] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
