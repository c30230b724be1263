/**
 * What a measured server owes the benchmark that started it as a child process.
 *
 * - It prints one JSON line, `{"url": "http://127.0.0.1:PORT/mcp"}`, on stdout once it accepts requests.
 * - It answers the message `"cpu"` on the IPC channel with its `process.cpuUsage()` (microseconds). A server that
 *   does not answer is measured through `/proc` instead, at the resolution of the kernel's clock ticks.
 * - It ends when the IPC channel closes, so that no server outlives its benchmark.
 *
 * @since 0.1.0
 */
import type { RequestListener } from "node:http"
import { createServer } from "node:http"
import { parseArgs } from "node:util"

/** Is the path at which a measured server answers. */
export const endpoint = "/mcp"

/** Tells the benchmark where to send requests, and starts to answer its questions about CPU time. */
export const announce = (url: string): void => {
  process.on("message", (message) => {
    if (message === "cpu") process.send?.(process.cpuUsage())
  })
  process.on("disconnect", () => process.exit(0))
  process.stdout.write(`${JSON.stringify({ url })}\n`)
}

/** Serves `listener` on the loopback port that `--port` names (0, the default, picks a free one) and announces it. */
export const serve = (listener: RequestListener): void => {
  const { values } = parseArgs({ options: { port: { type: "string", default: "0" } }, strict: false })
  const server = createServer(listener)
  server.keepAliveTimeout = 0
  server.listen(Number(values.port), "127.0.0.1", () => {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("The server listens on no TCP port")
    announce(`http://127.0.0.1:${address.port}${endpoint}`)
  })
}
