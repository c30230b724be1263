/**
 * A simulated server: the real dispatcher, engine, runner and sweeper in a process that crashes, shuts down and starts
 * again.
 *
 * @since 0.1.0
 */
import * as TaskClock from "@effect-mcp-tasks/engine/TaskClock"
import * as TaskEngine from "@effect-mcp-tasks/engine/TaskEngine"
import * as TaskLimits from "@effect-mcp-tasks/engine/TaskLimits"
import * as TaskOwner from "@effect-mcp-tasks/engine/TaskOwner"
import type * as TaskRunner from "@effect-mcp-tasks/engine/TaskRunner"
import * as TaskSignal from "@effect-mcp-tasks/engine/TaskSignal"
import * as TaskStore from "@effect-mcp-tasks/engine/TaskStore"
import * as TaskSweeper from "@effect-mcp-tasks/engine/TaskSweeper"
import * as TaskTools from "@effect-mcp-tasks/engine/TaskTools"
import * as Dispatcher from "@effect-mcp-tasks/server/Dispatcher"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Scope from "effect/Scope"
import type { Room } from "./Desk.ts"
import type { Process } from "./Process.ts"
import { CurrentRequest, type Served } from "./Served.ts"
import type { Connection } from "./SharedServices.ts"
import * as Tools from "./Tools.ts"

/** What a runner may use besides what is shared. */
type RunnerServices =
  | TaskEngine.TaskEngine
  | TaskStore.TaskStore
  | TaskTools.TaskTools
  | TaskSignal.TaskSignal
  | SecureRandom.SecureRandom

/**
 * What runs handlers in simulated servers.
 *
 * @since 0.1.0
 */
export interface Runner extends Room {
  readonly layer: (shared: Connection) => Layer.Layer<TaskRunner.TaskRunner, unknown, RunnerServices>
  /** By how many milliseconds servers may be wrong that go by the shared time; by their own clocks unless given. */
  readonly followsMs?: number | undefined
  /** Whether it also finds tasks whose creation failed for their caller. */
  readonly findsOrphans: boolean
}

/**
 * What a server needs of its world.
 *
 * @since 0.1.0
 */
export interface ServerOptions {
  /** Makes the process of the next start. */
  readonly fork: (start: number) => Process
  readonly store: (process: Process) => TaskStore.TaskStore["Service"]
  readonly shared: (process: Process) => Connection
  readonly runner: Runner
  /** Hears of every command that the engine of a process is given, and of what became of it. */
  readonly around: (process: Process, engine: TaskEngine.TaskEngine["Service"]) => TaskEngine.TaskEngine["Service"]
  /** Hears that a process has done with a request whose client has gone away. */
  readonly onLeft: (process: Process, served: Served) => void
  /** Hears why a process can never start. */
  readonly onDefect: (text: string) => void
  /** Sends a signal to everyone. */
  readonly publish: (taskId: string) => void
}

/**
 * A message that a server is to serve, and for whom.
 *
 * @since 0.2.0
 */
export interface Message {
  readonly owner: TaskOwner.TaskOwner
  readonly body: string
  /** Where the transport has them. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

interface Running {
  readonly process: Process
  readonly scope: Scope.Closeable
  readonly handle: Dispatcher.Dispatcher["Service"]["handle"]
}

/** How long a server that could not start waits before it tries again, in milliseconds. */
const restartMs = 1_000

/** How long a server may take to shut down before it is killed, in milliseconds. */
const graceMs = 10_000

/**
 * A simulated server.
 *
 * @since 0.1.0
 */
export class Server {
  /** The process that is up or on its way up or down; the last one when there is none. */
  process: Process
  private readonly options: ServerOptions
  private starts = 0
  private running: Running | undefined
  private hub: PubSub.PubSub<string> | undefined

  constructor(options: ServerOptions) {
    this.options = options
    this.process = this.start()
  }

  /** Ends at once, whatever it does. */
  crash(): void {
    this.process.crash()
    this.running = undefined
    this.hub = undefined
  }

  /** Starts a new process. */
  start(): Process {
    const process = this.options.fork(this.starts++)
    this.process = process
    this.hub = Effect.runSync(PubSub.sliding<string>(64))
    const scope = Effect.runSync(Scope.make())
    process.run(Layer.buildWithScope(this.layer(process, this.hub), scope), (exit) => {
      if (Exit.isSuccess(exit)) {
        this.running = { process, scope, handle: Context.get(exit.value, Dispatcher.Dispatcher).handle }
        return
      }
      if (Cause.hasDies(exit.cause)) this.options.onDefect(Cause.pretty(exit.cause))
      // A supervisor starts what could not start again.
      process.crash()
      process.world.after(restartMs, () => {
        if (this.process === process) this.start()
      })
    })
    return process
  }

  /** Ends in good order, or is killed when that takes too long; then says so. */
  shutdown(onEnd: () => void): void {
    const { running } = this
    this.running = undefined
    const end = () => {
      this.crash()
      onEnd()
    }
    if (running === undefined) return end()
    running.process.leavesAtMs = running.process.world.now
    running.process.run(Scope.close(running.scope, Exit.void), end)
    running.process.after(graceMs, end)
  }

  /**
   * Serves a message: `hear` gets what is said to it, the reply last, and `undefined` where nobody listens. Gives back
   * how to let its client go away.
   */
  handle(message: Message, hear: (text: string | undefined, isLast: boolean) => void): () => void {
    const { running } = this
    if (running === undefined) {
      hear(undefined, true)
      return () => undefined
    }
    const { process } = running
    const served: Served = { sinceMs: process.world.now, taskId: undefined }
    const send = (text: string) => Effect.sync(() => hear(text, false))
    return process.run(
      Effect.flatMap(
        running.handle({ headers: message.headers, body: message.body }),
        (answer) => "run" in answer ? answer.run(send) : Effect.succeed(answer)
      ).pipe(
        Effect.provideService(TaskOwner.CurrentOwner, message.owner),
        Effect.provideService(CurrentRequest, served)
      ),
      (exit) => Exit.isSuccess(exit) ? hear(exit.value.body, true) : this.options.onLeft(process, served)
    )
  }

  /** Hears a signal. */
  hear(taskId: string): void {
    if (this.hub !== undefined) this.process.run(PubSub.publish(this.hub, taskId))
  }

  private layer(process: Process, hub: PubSub.PubSub<string>) {
    const { around, publish, runner } = this.options
    const shared = this.options.shared(process)
    const store = this.options.store(process)
    const clock = runner.followsMs === undefined ? Layer.empty : TaskClock.layerReading(shared.time)
    const engine = Layer.effect(
      TaskEngine.TaskEngine,
      Effect.map(TaskEngine.TaskEngine, (engine) => around(process, engine))
    )
    const signal = TaskSignal.TaskSignal.of({
      publish: (taskId) => Effect.sync(() => publish(taskId)),
      subscribe: PubSub.subscribe(hub)
    })
    const random = SecureRandom.make((size) => Uint8Array.from({ length: size }, () => process.dice.between(0, 255)))
    return Layer.fresh(Dispatcher.layer({ name: "simulated", version: "0" }).pipe(
      Layer.provide(Layer.merge(runner.layer(shared), TaskSweeper.layerWith({ interval: "5 seconds", batchSize: 10 }))),
      Layer.provide(engine),
      Layer.provide(TaskEngine.layer),
      Layer.provide(clock),
      Layer.provide([
        Layer.succeed(TaskTools.TaskTools, Tools.tools),
        Layer.succeed(TaskStore.TaskStore, store),
        Layer.succeed(TaskSignal.TaskSignal, signal),
        Layer.succeed(SecureRandom.SecureRandom, random),
        TaskLimits.layer(Tools.limits)
      ])
    ))
  }
}
