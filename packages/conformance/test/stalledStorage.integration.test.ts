/** A process that is told to end while its storage stands still. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Schedule, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as services from "../../engine/test/services.ts"
import * as TcpProxy from "../../engine/test/TcpProxy.ts"
import * as Client from "../src/campaign/Client.ts"
import * as World from "../src/campaign/World.ts"

const program = fileURLToPath(new URL("../src/campaign/replica.ts", import.meta.url))

/**
 * A replica of the campaign takes 13 seconds at most: 2 for requests, half a one of grace and 6 more for handlers, 2
 * each for the storage and its client, half a one for the last answers. A busy machine adds to that.
 */
const longest = "30 seconds"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-mcp-tasks-stalled-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts a replica behind a proxy, has it run and park tasks, and stalls its storage; gives its exit code. */
const stalled = Effect.fnUntraced(function*(store: "redis" | "postgres", url: string, name: string) {
  const target = new URL(url)
  const proxy = yield* TcpProxy.make(Number(target.port) || (store === "redis" ? 6379 : 5432))
  const through = new URL(url)
  through.hostname = "127.0.0.1"
  through.port = String(proxy.port)
  const world = join(yield* directory, "world.jsonl")
  writeFileSync(world, "")
  const child = yield* ChildProcess.make(
    process.execPath,
    [
      "--conditions=@effect-mcp-tasks/source", program,
      "--store", store, "--at", through.href, "--name", name, "--world", world
    ],
    { stdin: "ignore", stderr: "inherit", forceKillAfter: "1 second" }
  )
  const [address] = yield* Stream.runCollect(child.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1)))
  assert.isDefined(address)
  for (const tool of ["ask", "work", "once", "ask", "work", "work", "work", "work"]) yield* Client.create(address, tool)
  yield* World.read(world).pipe(
    Effect.filterOrFail((deeds) => deeds.filter(({ _tag }) => _tag === "Kept").length > 2),
    Effect.retry(Schedule.spaced("20 millis"))
  )
  yield* proxy.loseReplies
  // A call that is under way, and whose write cannot be interrupted.
  yield* Effect.forkChild(Effect.ignore(Client.create(address, "work")))
  yield* Effect.sleep("200 millis")
  process.kill(child.pid, "SIGTERM")
  return yield* Effect.timeout(child.exitCode, longest)
})

const test = (title: string, effect: Effect.Effect<void, unknown, never>) =>
  it.live(title, () => Effect.provideService(effect, Client.Patience, "1 minute"))

describe("a process that is told to end while its storage stands still", () => {
  services.withService(services.redis, (url) => {
    test("ends in time on Redis", Effect.gen(function*() {
      assert.strictEqual(yield* stalled("redis", url, services.uniqueName()), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  })

  services.withService(services.postgres, (url) => {
    test("ends in time on Postgres", Effect.gen(function*() {
      assert.strictEqual(yield* stalled("postgres", url, yield* services.postgresNewSchema(url)), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  })
})
