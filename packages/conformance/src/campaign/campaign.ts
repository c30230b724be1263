/**
 * `npm run campaign`: replicas that are killed, frozen and told to end at random moments, while clients go on calling.
 *
 * Ends with exit code 0 when, after all that, no task is lost, none has ended twice, none is stuck, every acknowledged
 * answer was heard, and no step was done again after it had been recorded. With `--trouble` their storage suffers too,
 * with `--only` in the ways that it names.
 * The seed repeats the choices; when exactly a process dies is up to the machine.
 *
 * @since 0.2.0
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as CampaignStorage from "./CampaignStorage.ts"
import * as Driver from "./Driver.ts"
import * as Fleets from "./Fleet.ts"
import * as Place from "./Place.ts"
import * as Verdict from "./Verdict.ts"
import * as World from "./World.ts"

/** Something that must not happen has happened. */
class CampaignFailed extends Schema.TaggedError<CampaignFailed>()("CampaignFailed", { what: Schema.String }) {
  override get message(): string {
    return this.what
  }
}

const flags = {
  store: Flag.Literals("store", CampaignStorage.names).pipe(
    Flag.withDescription("Where the replicas keep their tasks"),
    Flag.withDefault("sqlite")
  ),
  kills: Flag.Int("kills").pipe(
    Flag.withDescription("How many times a replica is killed, frozen or told to end"),
    Flag.withDefault(30)
  ),
  seed: Flag.Int("seed").pipe(Flag.withDescription("Repeats the choices of a run"), Flag.optional),
  replicas: Flag.Int("replicas").pipe(Flag.withDescription("How many processes there are"), Flag.withDefault(3)),
  trouble: Flag.Boolean("trouble").pipe(
    Flag.withDescription("Breaks the storage too: a server of its own is restarted, paused, cut off, filled ..."),
    Flag.withDefault(false)
  ),
  only: Flag.String("only").pipe(
    Flag.withDescription("Which of these troubles, by name and with commas: slow,cut"),
    Flag.optional
  ),
  log: Flag.Boolean("log").pipe(Flag.withDescription("Shows what the replicas log"), Flag.withDefault(false))
}

/** Mostly killed, at times asked or frozen. */
const nextBlow = Effect.map(Random.nextIntBetween(0, 9), (dice): Fleets.Blow =>
  dice < 6 ? "SIGKILL" : dice < 8 ? "SIGTERM" : "SIGSTOP")

/** How long after the last blow every task must have ended. */
const longestRecovery = 60_000

type Clients = Effect.Success<ReturnType<typeof Driver.make>>

/** Strikes so many times, at replicas and at their storage, while clients go on calling. */
const fight = Effect.fnUntraced(function*(fleet: Fleets.Fleet, clients: Clients, place: Place.Place, kills: number) {
  const blows = new Map<string, number>()
  const struck = () => [...blows.values()].reduce((sum, times) => sum + times, 0)
  const note = (name: string) =>
    Effect.suspend(() => {
      blows.set(name, (blows.get(name) ?? 0) + 1)
      return struck() % 10 === 0 ? Console.log(`${struck()} struck`) : Effect.void
    })
  let slowest = 0
  const strike = Effect.gen(function*() {
    const blow = yield* nextBlow
    const millis = yield* fleet.strike(blow)
    if (millis === undefined) return
    slowest = Math.max(slowest, millis)
    yield* note(blow)
  })
  /** Something is wrong with the storage for a while, and at times with a replica meanwhile. */
  const trouble = Effect.gen(function*() {
    yield* Effect.sleep(yield* Random.nextIntBetween(300, 2_500))
    if (yield* Random.nextBoolean) yield* strike
    yield* Effect.sleep(yield* Random.nextIntBetween(0, 2_000))
  })
  const calling = yield* Effect.forkScoped(Effect.forever(Effect.andThen(clients.begin, Effect.sleep("60 millis"))))
  while (struck() < kills) {
    yield* Effect.sleep(yield* Random.nextIntBetween(200, 1_500))
    if (place.troubles.length === 0 || (yield* Random.nextBoolean)) yield* strike
    else yield* note(yield* Place.trouble(place, trouble))
  }
  yield* Fiber.interrupt(calling)
  return { blows, slowest }
})

const count = (tasks: ReadonlyArray<Verdict.Seen>, status: string): string =>
  `${status} ${tasks.filter(({ last }) => last?.status === status).length}`

const campaign = Effect.fnUntraced(function*(options: {
  readonly store: CampaignStorage.StorageName
  readonly kills: number
  readonly replicas: number
  readonly isTroubled: boolean
  readonly only: Option.Option<string>
  readonly isLoud: boolean
}) {
  const { isLoud, isTroubled, kills, only, replicas, store } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "effect-mcp-tasks-campaign-" })
  const name = `campaign_${SecureRandom.uuidV4Unsafe().replaceAll("-", "")}`
  const world = path.join(directory, "world.jsonl")
  yield* fs.writeFileString(world, "")
  const whole = yield* Place.make({ store, name, directory, isTroubled })
  const place = Option.isNone(only) ? whole : yield* Place.narrow(whole, only.value.split(","))
  const fleet = yield* Fleets.make({ store, at: place.at, name, world, size: replicas, isLoud })
  yield* fleet.whole
  const clients = yield* Driver.make(fleet)
  const { blows, slowest } = yield* fight(fleet, clients, place, kills)
  yield* fleet.whole
  yield* clients.rest(longestRecovery)
  const tasks = yield* clients.look
  const deeds = yield* World.read(world)
  return { blows, slowest, tasks, deeds, unasked: fleet.unasked, verdict: Verdict.judge(tasks, deeds) }
})

const command = Command.make("npm run campaign --", flags, ({ kills, log, only, replicas, seed, store, trouble }) =>
  Effect.gen(function*() {
    const chosen = Option.getOrElse(seed, () => Math.floor(Math.random() * 2 ** 31))
    const what = trouble ? "kills and troubles" : "kills"
    yield* Console.log(`store ${store}, replicas ${replicas}, ${what} ${kills}, seed ${chosen}`)
    const { blows, deeds, slowest, tasks, unasked, verdict } = yield* Effect.scoped(
      campaign({ store, kills, replicas, isTroubled: trouble, only, isLoud: log })
    ).pipe(Random.withSeed(chosen))
    const kept = deeds.filter(({ _tag }) => _tag === "Kept").length
    const answers = tasks.filter(({ answered }) => answered !== undefined).length
    const ends = ["completed", "failed", "cancelled"].map((status) => count(tasks, status)).join(", ")
    const struck = [...blows.values()].reduce((sum, times) => sum + times, 0)
    yield* Console.log(`${what} ${struck}: ${[...blows].map(([name, times]) => `${name} ${times}`).join(", ")}`)
    yield* Console.log(`slowest end after SIGTERM ${slowest} ms`)
    yield* Console.log(`tasks ${tasks.length}: ${ends}; answers ${answers}, steps ${kept}`)
    const { lost, repeated, stuck, twice, unheard, wrong } = verdict
    yield* Console.log(`lost ${lost.length}, twice ${twice.length}, stuck ${stuck.length}`)
    yield* Console.log(
      `answers unheard ${unheard.length}, steps repeated ${repeated.length}, wrong ends ${wrong.length}`
    )
    yield* Console.log(`replicas that ended by themselves ${unasked.length}`)
    const bad = Object.entries(verdict).flatMap(([what, ids]) => ids.map((taskId: string) => ({ what, taskId })))
    for (const { taskId, what } of bad) {
      const task = tasks.find((seen) => seen.taskId === taskId)
      yield* Console.error(`${what}: ${JSON.stringify(task)}`)
      for (const deed of deeds) if (deed.taskId === taskId) yield* Console.error(`  ${JSON.stringify(deed)}`)
    }
    if (unasked.length > 0) yield* Console.error(`They ended with ${unasked.join(", ")}`)
    if (bad.length + unasked.length > 0) return yield* new CampaignFailed({ what: "What must not happen has happened" })
  })).pipe(Command.withDescription("Kills, freezes and ends replicas while clients call them, and counts what is lost"))

command.pipe(Command.run({ version: "0.1.0" }), Effect.provide(NodeServices.layer), NodeRuntime.runMain())
