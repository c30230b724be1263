/** A fixed set of the fuzzer's inputs, and that the fuzzer notices what a server does wrong. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import * as Campaign from "../src/fuzz/Campaign.ts"
import { Draw } from "../src/fuzz/Draw.ts"
import { faultOf, read } from "../src/fuzz/Expected.ts"
import * as HttpExchange from "../src/fuzz/HttpExchange.ts"
import * as HttpGrammar from "../src/fuzz/HttpGrammar.ts"
import { parse } from "../src/fuzz/HttpResponses.ts"

const seed = 20260728

describe("a fixed set of inputs", () => {
  for (const transport of ["http", "stdio"] as const) {
    it.live(`is answered as it is to be over ${transport}`, () =>
      Effect.gen(function*() {
        const report = yield* Campaign.run({ transport, seed, inputs: 400 })
        assert.deepStrictEqual(report.violations, [])
        assert.isAtLeast(report.classes.size, 8)
        assert.strictEqual([...report.classes.values()].reduce((sum, count) => sum + count, 0), 400)
      }))
  }

  it("is the same each time", () => {
    const drawn = () => Array.from({ length: 50 }, (_, number) => HttpGrammar.draw(new Draw(seed, number), number, 1))
    assert.deepStrictEqual(drawn(), drawn())
    assert.notDeepEqual(HttpGrammar.draw(new Draw(seed, 1), 1, 1), HttpGrammar.draw(new Draw(seed + 1, 1), 1, 1))
  })
})

/** Sends inputs to a server that answers as the test says; gives back how many were answered wrongly. */
const violationsOf = (answer: Parameters<typeof createServer>[1]) =>
  Effect.scoped(Effect.gen(function*() {
    const server = yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server = createServer((request, response) => {
          request.on("data", () => undefined).on("end", () => answer?.(request, response))
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.closeAllConnections())
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const client = HttpExchange.make(port)
    let violations = 0
    for (let number = 0; number < 100; number++) {
      const input = HttpGrammar.draw(new Draw(seed, number), number, port)
      if (input._tag !== "complete" || input.httpStatus === 408) continue
      const outcome = yield* client.exchange(input)
      if (outcome.violation !== undefined) violations++
    }
    yield* client.close
    return violations
  }))

describe("the fuzzer", () => {
  it.live("notices wrong statuses, ids, codes, types and bodies", () =>
    Effect.gen(function*() {
      const json = { "content-type": "application/json" }
      const result = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`
      const error = `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}}`
      const wrong: ReadonlyArray<Parameters<typeof createServer>[1]> = [
        (_, response) => response.writeHead(200, json).end(result),
        (_, response) => response.writeHead(202).end(),
        (_, response) => response.writeHead(400, json).end(error),
        (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end(result),
        (_, response) => response.writeHead(500).end(),
        (_, response) => response.writeHead(200, { ...json, "content-length": "1000" }).destroy()
      ]
      for (const answer of wrong) assert.isAtLeast(yield* violationsOf(answer), 60)
    }))

  it("reads responses to the letter", () => {
    const whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    assert.deepInclude(parse(Buffer.from(whole), false), { status: 200, body: "hi", size: whole.length })
    assert.deepInclude(parse(Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${whole}`), false), { status: 200, body: "hi" })
    const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    assert.deepInclude(parse(Buffer.from(chunked), false), { body: "hi", size: chunked.length })
    for (let length = 0; length < whole.length; length++) {
      assert.strictEqual(parse(Buffer.from(whole.slice(0, length)), false), "incomplete")
      assert.property(parse(Buffer.from(whole.slice(0, length)), true), "fault")
    }
    const faulty = [
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
      "HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"
    ]
    for (const text of faulty) assert.property(parse(Buffer.from(text), false), "fault", text)
  })

  it("holds an answer against what is due", () => {
    const judged = (expected: Parameters<typeof faultOf>[0], text: string) => {
      const message = read(text)
      assert(message !== undefined, text)
      return faultOf(expected, message, text)
    }
    const result = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","a":"word"}}`
    const error = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":""}}`
    assert.isUndefined(judged({ _tag: "Result", id: 1, says: "word" }, result))
    assert.isUndefined(judged({ _tag: "Error", id: 1, code: -32602, httpStatus: 200 }, error))
    assert.isUndefined(judged({ _tag: "Result", id: 1, or: -32602 }, error))
    for (
      const [expected, text] of [
        [{ _tag: "Silence" }, result],
        [{ _tag: "Result", id: "1" }, result],
        [{ _tag: "Result", id: 1, says: "another" }, result],
        [{ _tag: "Result", id: 1 }, error],
        [{ _tag: "Result", id: 1 }, `{"jsonrpc":"2.0","id":1,"result":{}}`],
        [{ _tag: "Error", id: 1, code: -32601, httpStatus: 200 }, error],
        [{ _tag: "Error", id: null, code: -32602, httpStatus: 200 }, error]
      ] as const
    ) assert.isString(judged(expected, text))
    const none = ["", "{}", "[]", `${result}\n`, result.replace("2.0", "1.0"), result.replace("}}", `},"x":1}`)]
    for (const text of none) {
      assert.isUndefined(read(text), text)
    }
  })
})
