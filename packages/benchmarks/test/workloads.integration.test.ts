import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { measure } from "../src/measure.ts"
import { RpcClient, WrongAnswer } from "../src/RpcClient.ts"
import type { ServerProcess } from "../src/ServerProcess.ts"
import { start } from "../src/ServerProcess.ts"
import { servers } from "../src/servers.ts"
import { workloads } from "../src/workloads.ts"

let directory = ""

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "bench-test-"))
})

afterAll(() => rm(directory, { recursive: true }))

for (const entry of servers) {
  describe(entry.name, () => {
    let server: ServerProcess | undefined

    beforeAll(async () => {
      server = await start(entry, directory)
    })

    afterAll(() => server?.stop())

    for (const workload of workloads) {
      it(workload.name, async () => {
        if (server === undefined) throw new Error("The server did not start")
        const operations = 40
        const sample = await measure(server, workload, operations)
        assert.isAbove(sample.cpuMicrosPerOp ?? 0, 0)
        assert.isAtLeast(sample.requestsPerOp, 1)
        assert.isAtLeast(sample.p99Millis, sample.p50Millis)
      })
    }
  })
}

describe("a server that answers wrongly", () => {
  const answers = [
    [200, "not JSON"],
    [200, JSON.stringify({ jsonrpc: "2.0", id: 99, result: { resultType: "task" } })],
    [200, JSON.stringify({ jsonrpc: "2.0", id: 1, result: { resultType: "complete" } })],
    [200, JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } })],
    [500, JSON.stringify({ jsonrpc: "2.0", id: 1, result: { resultType: "task" } })]
  ] as const

  for (const [status, body] of answers) {
    it(`ends the run: ${status} ${body}`, async () => {
      const server = createServer((_, response) => void response.writeHead(status).end(body)).listen(0, "127.0.0.1")
      await new Promise((resolve) => server.once("listening", resolve))
      const client = new RpcClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
      const request = { method: "tools/call", name: "quick_job", params: {}, resultType: "task" } as const
      const failure = await client.send(request).then(() => undefined, (cause: unknown) => cause)
      await client.close()
      server.close()
      assert.instanceOf(failure, WrongAnswer)
    })
  }
})
