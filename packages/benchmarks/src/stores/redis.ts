/**
 * The Redis store, beside `redis` (node-redis), which writes the same keys without any condition.
 *
 * @since 0.1.0
 */
import { TaskStore } from "@effect-mcp-tasks/engine"
import { NodeRedis } from "@effect/platform-node"
import { Layer, Logger } from "effect"
import { createClient } from "redis"
import { type Bare, ofDriver, ofStore, type Pair } from "./Contestant.ts"

type Client = Awaited<ReturnType<typeof connect>>

const connect = (url: string) => createClient({ url, socket: { reconnectStrategy: false } }).connect()

const driver = (client: Client, prefix: string): Bare => {
  const key = (taskId: string) => `{${prefix}}:task:${taskId}`
  const [due, ids, live, owned] = ["due", "ids", "live", "owned"].map((name) => `{${prefix}}:${name}`)
  const zadd = (name: string | undefined, score: number, value: string) => client.zAdd(name ?? "", { score, value })
  return {
    // node-redis sends what is asked for at the same moment together: these five are one packet.
    create: async (it) => {
      const fields = { version: 1, owner: it.owner, live: 1, due: it.dueAt ?? "", head: it.head, body: it.body }
      const [written] = await Promise.all([
        client.hSet(key(it.taskId), fields),
        zadd(ids, 0, it.taskId),
        zadd(due, it.dueAt ?? 0, it.taskId),
        zadd(live, 0, it.taskId),
        zadd(owned, 0, `${it.owner}\0${it.taskId}`)
      ])
      return written === 6
    },
    transition: async (it, version) => {
      const fields = { version: version + 1, live: 1, due: it.dueAt ?? "", head: it.head, body: it.body }
      return await client.hSet(key(it.taskId), fields) === 0
    },
    poll: async (taskId) => (await client.hmGet(key(taskId), ["owner", "live", "due", "head", "result"]))[0] !== null,
    read: async (taskId) => (await client.hmGet(key(taskId), ["version", "body", "result"]))[0] !== null
  }
}

const drop = async (client: Client, prefix: string): Promise<void> => {
  for await (const keys of client.scanIterator({ MATCH: `{${prefix}}*`, COUNT: 1_000 })) {
    if (keys.length > 0) await client.unlink(keys)
  }
}

/** Opens both under prefixes of their own, whose keys go when they are closed. */
export const open = async (url: string): Promise<Pair> => {
  const client = await connect(url)
  const [ours, theirs] = [`bench_ours_${process.pid}`, `bench_bare_${process.pid}`]
  const aof = /^aof_enabled:(\d)/m.exec(await client.info("persistence"))?.[1] === "1"
  const { appendfsync = "unknown" } = await client.configGet("appendfsync")
  return {
    store: ofStore(
      "layerRedis",
      Layer.provide(TaskStore.layerRedisWith({ prefix: ours }), [NodeRedis.layer({ url }), Logger.layer([])]),
      () => drop(client, ours)
    ),
    bare: ofDriver("redis", driver(client, theirs), async () => {
      await drop(client, theirs)
      await client.close()
    }),
    settings: aof ? `appendonly, appendfsync ${appendfsync}` : "no append-only file: nothing survives Redis"
  }
}
