/** The handle store in Redis: at `REDIS_URL`, or on this machine. Without a server it is seen not to run. */
import { TaskHandleStore } from "@effect-mcp-tasks/client"
import { NodeRedis } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Redis } from "effect/persistence"
import { randomUUID } from "node:crypto"
import { createConnection } from "node:net"
import { suite } from "./TaskHandleStoreTest.ts"

const url = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"

/** Whether somebody accepts connections there within a second. */
const isThere = await new Promise<boolean>((resolve) => {
  const { hostname, port } = new URL(url)
  const socket = createConnection({ host: hostname, port: Number(port || 6379), timeout: 10_000 })
  const end = (answer: boolean) => {
    socket.destroy()
    resolve(answer)
  }
  socket.once("connect", () => end(true)).once("error", () => end(false)).once("timeout", () => end(false))
})

/** A hash of its own, which is gone after the test. */
const inRedis = Layer.unwrap(Effect.gen(function*() {
  const hash = `test:${randomUUID()}`
  const { send } = yield* Redis.Redis
  yield* Effect.addFinalizer(() => Effect.ignore(send("DEL", hash)))
  return TaskHandleStore.layerRedis({ hash })
})).pipe(Layer.provide(NodeRedis.layer({ url })))

const isRequired = process.env["REQUIRE_SERVICES"] === "1"

const missing = (title: string) =>
  describe.skipIf(!isRequired)(title, () => {
    it("needs Redis", () => {
      throw new Error("REQUIRE_SERVICES=1, but there is no Redis")
    })
  })

const declare = isThere ? () => suite("Redis", inRedis) : () => missing(`a handle store in Redis: nobody is at ${url}`)
declare()
