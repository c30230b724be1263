/**
 * The load driver's client: JSON-RPC over HTTP/1.1 on a fixed number of keep-alive connections to loopback.
 *
 * Every response is checked before it counts: status 200, the id of its request, a `result` and no `error`, and the
 * `resultType` that the caller expects. A server that answers wrongly ends the run instead of looking fast.
 *
 * @since 0.1.0
 */
import { Pool } from "undici"
import { protocolVersion, requestMeta } from "./protocol.ts"

/** Is how many connections, and so how many requests at once, the driver keeps open to a server. */
export const connections = 32

/** Is one request: `name` is what the `Mcp-Name` header must repeat, the tool's name or the task's id. */
export interface RpcRequest {
  readonly method: "tools/call" | "tasks/get" | "tasks/update" | "tasks/cancel"
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
  readonly resultType: "task" | "complete"
}

/** Is the part of a result that the driver looks at. */
export interface RpcResult {
  readonly resultType: string
  readonly taskId?: string
  readonly status?: string
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly result?: { readonly content?: ReadonlyArray<{ readonly text?: string }> }
}

/** Says that a server answered something other than what the protocol and the workload demand. */
export class WrongAnswer extends Error {
  override readonly name = "WrongAnswer"

  constructor(request: RpcRequest, status: number, body: string) {
    super(`${request.method} ${request.name}: HTTP ${status}, expected "${request.resultType}": ${body.slice(0, 500)}`)
  }
}

interface Envelope {
  readonly id?: unknown
  readonly result?: RpcResult
}

const parse = (body: string): Envelope | undefined => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Sends requests to one server and counts them. */
export class RpcClient {
  readonly #pool: Pool
  readonly #path: string
  #requests = 0

  constructor(url: string) {
    const { origin, pathname } = new URL(url)
    this.#pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 600_000 })
    this.#path = pathname
  }

  /** Is how many requests were sent so far. */
  get requests(): number {
    return this.#requests
  }

  /** Sends one request and returns its checked result; rejects with `WrongAnswer`. */
  async send(request: RpcRequest): Promise<RpcResult> {
    const id = ++this.#requests
    const params = { ...request.params, _meta: requestMeta }
    const response = await this.#pool.request({
      method: "POST",
      path: this.#path,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": protocolVersion,
        "mcp-method": request.method,
        "mcp-name": request.name
      },
      body: JSON.stringify({ jsonrpc: "2.0", id, method: request.method, params })
    })
    const body = await response.body.text()
    const answer = response.statusCode === 200 ? parse(body) : undefined
    if (answer?.id !== id || answer.result?.resultType !== request.resultType) {
      throw new WrongAnswer(request, response.statusCode, body)
    }
    return answer.result
  }

  /** Closes the connections. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
