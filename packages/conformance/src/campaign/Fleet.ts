/**
 * The replicas of a campaign: as many processes as it wants, of which each that ends is followed by another.
 *
 * @since 0.2.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import type { StorageName, StorageOptions } from "./CampaignStorage.ts"

const program = fileURLToPath(new URL("replica.ts", import.meta.url))

/**
 * How replicas are started.
 *
 * @category models
 * @since 0.2.0
 */
export interface FleetOptions extends StorageOptions {
  readonly store: StorageName
  readonly world: string
  readonly size: number
  /** Whether to show what the replicas log. */
  readonly isLoud: boolean
}

/** A replica that listens. */
interface Replica {
  readonly url: string
  readonly pid: number
  readonly exitCode: Effect.Effect<number, PlatformError.PlatformError>
}

/**
 * What can be done to a replica.
 *
 * @category models
 * @since 0.2.0
 */
export type Blow = "SIGKILL" | "SIGTERM" | "SIGSTOP"

/**
 * A replica did not end well, or not in time, though it was asked to.
 *
 * @category errors
 * @since 0.2.0
 */
export class BadEnd extends Schema.TaggedError<BadEnd>()("BadEnd", { how: Schema.String }) {
  override get message(): string {
    return `A replica that was told to end ${this.how}`
  }
}

/** How long a replica may take to end: its grace periods, and what a busy machine adds. */
const longestEnd = "30 seconds"

/** How long to look for a replica to strike. */
const longestSearch = "3 seconds"

/** How long a frozen replica stays so: past its lease of two seconds. */
const freeze = { least: 2_500, most: 4_000 }

const spawn = Effect.fnUntraced(function*({ at, isLoud, name, store, world }: FleetOptions) {
  const child = yield* ChildProcess.make(
    process.execPath,
    [...process.execArgv, program, "--store", store, "--at", at, "--name", name, "--world", world],
    { stdin: "ignore", stderr: isLoud ? "inherit" : "ignore", forceKillAfter: "1 second" }
  )
  const url = yield* child.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
  // One that died before it said where it is, is dead.
  return url._tag === "None"
    ? undefined
    : { url: url.value, pid: child.pid, exitCode: child.exitCode } satisfies Replica as Replica
})

const send = (pid: number, signal: NodeJS.Signals) =>
  Effect.sync(() => {
    try {
      process.kill(pid, signal)
    } catch {
      // It is gone already: a tool may have taken it down.
    }
  })

/** Asks a replica to end, and says how many milliseconds that took. */
const end = Effect.fnUntraced(function*({ exitCode, pid }: Replica) {
  const before = yield* Clock.currentTimeMillis
  yield* send(pid, "SIGTERM")
  const code = yield* exitCode.pipe(
    Effect.catch(() => Effect.succeed(137)),
    Effect.timeoutOrElse({
      duration: longestEnd,
      orElse: () => Effect.andThen(send(pid, "SIGKILL"), new BadEnd({ how: `had not ended in ${longestEnd}` }))
    })
  )
  // A tool of the campaign kills its process at times, in these seconds as well.
  if (code !== 0 && code !== 137) return yield* new BadEnd({ how: `ended with ${code}` })
  return (yield* Clock.currentTimeMillis) - before
})

/**
 * Starts the replicas, and keeps them as many as they are to be until the scope closes.
 *
 * @category constructors
 * @since 0.2.0
 */
export const make = Effect.fnUntraced(function*(options: FleetOptions) {
  const up = new Set<Replica>()
  const asked = new Set<Replica>()
  const unasked: Array<number> = []

  /** One place in the fleet: a process, and when that has ended the next. */
  const place = Effect.forever(Effect.scoped(Effect.gen(function*() {
    const replica = yield* spawn(options)
    if (replica === undefined) return yield* Effect.sleep("500 millis")
    up.add(replica)
    const exit = yield* Effect.ensuring(Effect.exit(replica.exitCode), Effect.sync(() => up.delete(replica)))
    // One that was killed, from outside or by one of its tools, has no code.
    if (Exit.isSuccess(exit) && !asked.delete(replica)) unasked.push(exit.value)
  })))
  for (let index = 0; index < options.size; index++) yield* Effect.forkScoped(place)

  const pick = Effect.gen(function*() {
    while (true) {
      const replicas = [...up]
      const replica = replicas[yield* Random.nextIntBetween(0, Math.max(0, replicas.length - 1))]
      if (replica !== undefined) return replica
      yield* Effect.sleep("50 millis")
    }
  })

  return {
    /** The codes with which replicas have ended that nobody had told to end, in their order. */
    unasked,
    /** Waits until all replicas are up. */
    whole: Effect.gen(function*() {
      while (up.size < options.size) yield* Effect.sleep("100 millis")
    }),
    /** The address of one of the replicas that are up, by chance. */
    url: Effect.map(pick, ({ url }) => url),
    /**
     * Does something to one of the replicas, and says how many milliseconds it took to end, when it was asked to. Where
     * none is up, since none can start as its storage is now, nothing is done.
     */
    strike: Effect.fnUntraced(function*(blow: Blow) {
      const found = yield* Effect.timeoutOption(pick, longestSearch)
      if (Option.isNone(found)) return undefined
      const replica = found.value
      switch (blow) {
        case "SIGKILL":
          up.delete(replica)
          yield* send(replica.pid, "SIGKILL")
          return 0
        case "SIGTERM":
          up.delete(replica)
          asked.add(replica)
          return yield* end(replica)
        case "SIGSTOP":
          yield* send(replica.pid, "SIGSTOP")
          yield* Effect.sleep(yield* Random.nextIntBetween(freeze.least, freeze.most))
          yield* send(replica.pid, "SIGCONT")
          return 0
      }
    })
  }
})

/**
 * The replicas of a campaign.
 *
 * @category models
 * @since 0.2.0
 */
export type Fleet = Effect.Success<ReturnType<typeof make>>
