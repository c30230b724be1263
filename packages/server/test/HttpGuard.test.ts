/** Who and what is let in over loopback HTTP before a message is read. */
import { TaskOwner } from "@effect-mcp-tasks/engine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { gzipSync } from "node:zlib"
import { connect } from "node:net"
import { exchange, isListing, isRefusal, listing, listingWith, message, serve } from "./TestServer.ts"

/** Sends a request as it is written, and gives back all that comes until the connection is closed. */
const written = (port: number, request: string) =>
  Effect.callback<string>((resume) => {
    let text = ""
    const socket = connect(port, "127.0.0.1", () => socket.write(request))
    socket.on("data", (chunk) => text += String(chunk))
    socket.on("close", () => resume(Effect.succeed(text)))
    return Effect.sync(() => socket.destroy())
  })

describe("Origin", () => {
  it.live("is refused unless an allowed host serves it [A2, I5]", () =>
    Effect.gen(function*() {
      const port = yield* serve({ allowedHosts: ["App.Example"], allowedOrigins: ["https://Page.example"] })
      const allowed = [
        undefined,
        `http://127.0.0.1:${port}`,
        "http://localhost:3000",
        "https://localhost",
        "http://[::1]:8080",
        "HTTP://LOCALHOST",
        "https://app.example",
        "https://page.example"
      ]
      for (const origin of allowed) isListing(yield* exchange({ port, ...listingWith({ origin }) }))
      const refused = [
        "http://evil.example",
        "null",
        "",
        "nonsense",
        "http://",
        "http://localhost.evil.example",
        "http://evil.example:80/localhost",
        "http://localhost/path",
        "http://localhost@evil.example",
        "http://evil.example@localhost",
        "http://localhost:1:2",
        "http://localhost?evil",
        "file://localhost",
        "https://page.example:444",
        "http://page.example"
      ]
      for (const origin of refused) isRefusal(yield* exchange({ port, ...listingWith({ origin }) }), 403)
    }))

  it.live("whose pages may call is told so by CORS beside the endpoint, and another one's are not [A2]", () =>
    Effect.gen(function*() {
      const page = "https://page.example"
      const cors = HttpRouter.cors({ allowedOrigins: [page], exposedHeaders: ["www-authenticate", "retry-after"] })
      const port = yield* serve({ allowedOrigins: [page] }, {}, (endpoint) =>
        Layer.merge(HttpRouter.provideRequest(TaskOwner.layerAnonymous)(endpoint), cors))
      const asked = "content-type,mcp-method,mcp-protocol-version"
      const preflight = yield* exchange({
        port,
        path: "/mcp",
        method: "OPTIONS",
        headers: { origin: page, "access-control-request-method": "POST", "access-control-request-headers": asked }
      })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers["access-control-allow-headers"], asked)
      const answer = yield* exchange({ port, ...listingWith({ origin: page }) })
      isListing(answer)
      assert.strictEqual(answer.headers["access-control-allow-origin"], page)
      const other = yield* exchange({ port, ...listingWith({ origin: "https://other.example" }) })
      assert.notStrictEqual(other.headers["access-control-allow-origin"], "https://other.example")
      isRefusal(other, 403)
    }))

  it.live("of this machine is refused where the server has a public name, unless it is allowed itself [A2]", () =>
    Effect.gen(function*() {
      const port = yield* serve({ allowedHosts: ["app.example"], allowedOrigins: ["http://127.0.0.1:5173"] })
      const from = (origin: string, host: string) => exchange({ port, ...listingWith({ origin, host }) })
      for (const origin of ["http://localhost", "http://localhost:3000", "https://127.0.0.1", "http://[::1]:80"]) {
        isRefusal(yield* from(origin, "app.example"), 403)
        isListing(yield* from(origin, `localhost:${port}`))
        isListing(yield* from(origin, "[::1]"))
      }
      isListing(yield* from("http://127.0.0.1:5173", "app.example"))
      isListing(yield* from("https://app.example", "app.example"))
      isListing(yield* from("https://app.example", `127.0.0.1:${port}`))
    }))

  it.live("is refused before the method, the type and the body are looked at [A2]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const request = { port, headers: { origin: "http://evil.example", "content-type": undefined } }
      for (const method of ["GET", "DELETE", "OPTIONS", "POST"]) {
        isRefusal(yield* exchange({ ...request, method, chunks: ["{"] }), 403)
      }
    }))
})

describe("Host", () => {
  it.live("is refused unless it is a loopback name or an allowed one, with any port", () =>
    Effect.gen(function*() {
      const port = yield* serve({ allowedHosts: ["App.Example"] })
      const own = [`127.0.0.1:${port}`, "127.0.0.1", "localhost:1", "LocalHost", "[::1]:80", "app.example:443"]
      for (const host of own) {
        isListing(yield* exchange({ port, ...listingWith({ host }) }))
      }
      const evil = ["evil.example", `evil.example:${port}`, "localhost.evil.example", "127.0.0.1.evil", "::1", ""]
      for (const host of evil) isRefusal(yield* exchange({ port, ...listingWith({ host }) }), 403)
    }))

  it.live("must be there", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const response = yield* exchange({ port, ...listingWith({ host: undefined }) })
      assert.strictEqual(response.status, 400)
      assert.notInclude(response.text, "tools")
    }))

  it.live("must be there in HTTP/1.0 too, which does not ask for it", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const answer = yield* written(port, "POST /mcp HTTP/1.0\r\ncontent-length: 0\r\n\r\n")
      assert.match(answer, /^HTTP\/1.1 403 /)
    }))
})

describe("what has one value", () => {
  const ask = (port: number, ...lines: ReadonlyArray<string>) => {
    const body = message("tools/list")
    const usual = Object.entries(listing.headers).map(([name, value]) => `${name}: ${value}`)
    const more = ["connection: close", `content-length: ${body.length}`]
    return written(port, ["POST /mcp HTTP/1.1", ...lines, ...usual, ...more, "", body].join("\r\n"))
  }
  const host = "Host: localhost"
  const json = "Content-Type: application/json"
  const twice: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["another host", [host, json, "HOST: evil.example"]],
    ["the host again", [host, "host: localhost", json]],
    ["another type", [host, json, "content-type: text/plain"]],
    ["another charset", [host, json, "content-type: application/json; charset=latin1"]],
    ["another token", [host, json, "Authorization: Bearer a", "authorization: Bearer b"]]
  ]
  for (const [name, lines] of twice) {
    it.live(`is refused with ${name} on a second line`, () =>
      Effect.gen(function*() {
        const port = yield* serve()
        assert.match(yield* ask(port, ...lines), /^HTTP\/1.1 400 [^]*"code":-32600/)
      }))
  }

  it.live("may be said again, but for the host", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const token = "authorization: Bearer a"
      assert.match(yield* ask(port, host, json, json, token, token), /^HTTP\/1.1 200 /)
    }))
})

describe("method, path and type", () => {
  it.live("only POST is served, and the answer says so [A1, A19]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      for (const method of ["GET", "DELETE", "OPTIONS", "PUT", "PATCH"]) {
        const response = yield* exchange({ port, method, headers: listing.headers })
        isRefusal(response, 405)
        assert.strictEqual(response.headers.allow, "POST")
      }
      const head = yield* exchange({ port, method: "HEAD", headers: listing.headers })
      assert.deepStrictEqual([head.status, head.headers.allow, head.text], [405, "POST", ""])
    }))

  it.live("only the endpoint's path is served [A1]", () =>
    Effect.gen(function*() {
      const port = yield* serve({ path: "/tasks" })
      isListing(yield* exchange({ port, path: "/tasks", ...listing }))
      for (const path of ["/", "/mcp", "/tasks/more", "/tasksx"]) {
        assert.strictEqual((yield* exchange({ port, path, ...listing })).status, 404)
      }
    }))

  it.live("only JSON is read", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const same = [
        "application/json",
        "Application/JSON;charset=utf-8",
        "application/json ; charset=UTF-8",
        "application/json; charset=\"utf-8\"",
        "application/json;charset=utf8; version=1",
        "application/json; version=1"
      ]
      for (const type of same) isListing(yield* exchange({ port, ...listingWith({ "content-type": type }) }))
      const others = [undefined, "", "text/plain", "application/json-patch+json", "application/jsonp", "x/json"]
      for (const type of others) {
        isRefusal(yield* exchange({ port, ...listingWith({ "content-type": type }) }), 415)
      }
    }))

  it.live("only UTF-8 is read, whatever the bytes [A20]", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const charsets = ["latin1", "utf-16", "UTF-16LE", "us-ascii", "", "\"\"", "\"utf-8", "utf-80", "utf-8, latin1"]
      for (const charset of charsets) {
        for (const parameters of [`; charset=${charset}`, `;version=1;Charset = ${charset}`]) {
          const type = `application/json${parameters}`
          isRefusal(yield* exchange({ port, ...listingWith({ "content-type": type }) }), 415)
        }
      }
      const twice = "application/json; charset=utf-8; charset=latin1"
      isRefusal(yield* exchange({ port, ...listingWith({ "content-type": twice }) }), 415)
    }))

  it.live("no compressed body is read, and the answer says so", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      for (const coding of ["identity", "Identity", ""]) {
        isListing(yield* exchange({ port, ...listingWith({ "content-encoding": coding }) }))
      }
      const zipped = gzipSync(message("tools/list"))
      for (const coding of ["gzip", "x-gzip", "deflate", "br", "zstd", "identity, gzip", "gzip, identity", "*"]) {
        const headers = { ...listing.headers, "content-encoding": coding }
        const response = yield* exchange({ port, headers, chunks: [zipped] })
        isRefusal(response, 415)
        assert.strictEqual(response.headers["accept-encoding"], "identity")
      }
    }))

  it.live("sessions of earlier revisions are ignored and none is minted", () =>
    Effect.gen(function*() {
      const port = yield* serve()
      const response = yield* exchange({ port, ...listingWith({ "mcp-session-id": "one" }) })
      isListing(response)
      assert.isUndefined(response.headers["mcp-session-id"])
      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.notInclude(response.text, "\n")
    }))
})
