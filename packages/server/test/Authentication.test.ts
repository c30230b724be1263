/** Who is let in over HTTP, what everybody else is told, and where a token must never turn up. */
import { TaskOwner, TaskStore } from "@effect-mcp-tasks/engine"
import { Authentication, HttpTransport, JwtVerifier, TokenVerifier } from "@effect-mcp-tasks/server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Tracer } from "effect"
import { HttpMiddleware, HttpServerRequest } from "effect/http"
import { audience, endpoint, issuer, makeKey, sign } from "./Issuer.ts"
import {
  exchange,
  mcpHeaders,
  message,
  type Options,
  type RawResponse,
  read,
  type Script,
  serve
} from "./TestServer.ts"

const resource = "https://mcp.example/mcp"
const metadata = "https://mcp.example/.well-known/oauth-protected-resource/mcp"

const options: Authentication.AuthenticationOptions = { resource, authorizationServers: [issuer] }

const listing = { headers: mcpHeaders("tools/list"), chunks: [message("tools/list")] }

const calling = (name: string, text: string) => ({
  headers: mcpHeaders("tools/call", name),
  chunks: [message("tools/call", { name, arguments: { text } })]
})

const polling = (taskId: string) => ({
  headers: mcpHeaders("tasks/get", taskId),
  chunks: [message("tasks/get", { taskId })]
})

type Request = typeof listing

const withToken = (token: string, { chunks, headers }: Request = listing) => ({
  chunks,
  headers: { ...headers, authorization: `Bearer ${token}` }
})

/** A verifier that takes `subject` or `subject:scope scope` for a token. */
const trusting = TokenVerifier.layer((token) => {
  const [subject = "", scopes = ""] = Redacted.value(token).split("~")
  return subject === "bad"
    ? Effect.fail(new TokenVerifier.TokenRefused({ reason: "The token is bad" }))
    : Effect.succeed({ owner: TaskOwner.principal({ issuer, subject }), scopes: scopes.split("+") })
})

const start = (
  changed: Partial<Authentication.AuthenticationOptions> = {},
  verifier: Layer.Layer<TokenVerifier.TokenVerifier> = trusting,
  server: Options = {}
) =>
  serve({}, server, (it) =>
    it.pipe(Layer.provide(Authentication.layer({ ...options, ...changed })), Layer.provide(verifier)))

const isServed = (response: RawResponse) => {
  assert.strictEqual(response.status, 200, response.text)
  assert.include(response.text, `"result":`)
}

/** Expects a refusal to the letter. */
const isRefused = (response: RawResponse, status: number, message: string, challenge?: string) => {
  assert.strictEqual(response.status, status, response.text)
  assert.strictEqual(response.headers["content-type"], "application/json")
  assert.deepStrictEqual(JSON.parse(response.text), { jsonrpc: "2.0", id: null, error: { code: -32600, message } })
  assert.strictEqual(response.headers["www-authenticate"], challenge)
}

describe("a request without a token", () => {
  it.live("is refused with where to get one, and without an error [A3, K1, K2, K4]", () =>
    Effect.gen(function*() {
      const port = yield* start()
      const challenge = `Bearer resource_metadata="${metadata}"`
      const foreign = [undefined, "", "Basic YTpi", "Bearerx", "DPoP token", "token"]
      for (const authorization of foreign) {
        const response = yield* exchange({ port, ...listing, headers: { ...listing.headers, authorization } })
        isRefused(response, 401, "Unauthorized: a bearer token is needed", challenge)
      }
      const elsewhere = yield* exchange({ port, path: "/mcp?access_token=ada", ...listing })
      isRefused(elsewhere, 401, "Unauthorized: a bearer token is needed", challenge)
    }))

  it.live("learns which scopes to ask for [K5]", () =>
    Effect.gen(function*() {
      const port = yield* start({ scopes: ["tasks", "more"] })
      const challenge = `Bearer scope="tasks more", resource_metadata="${metadata}"`
      isRefused(yield* exchange({ port, ...listing }), 401, "Unauthorized: a bearer token is needed", challenge)
    }))

  it.live("is refused before anything of it is read [K2]", () =>
    Effect.gen(function*() {
      const port = yield* start()
      for (const method of ["GET", "DELETE", "POST"]) {
        const response = yield* exchange({ port, method, chunks: ["{"], unfinished: () => undefined })
        assert.strictEqual(response.status, 401)
      }
      isServed(yield* exchange({ port, ...withToken("ada") }))
    }))

  it.live("is refused for its Origin or Host before it is asked who it is, and so is the document's reader [A2]", () =>
    Effect.gen(function*() {
      const port = yield* start()
      const document = "/.well-known/oauth-protected-resource"
      for (const wrong of [{ origin: "http://evil.example" }, { host: "evil.example" }]) {
        const spellings = ["//mcp", "/MCP", "/mcp/", "/%6dcp", "/mcp;x", "/mcp#x"]
        for (const path of ["/mcp", "/mcp?query", ...spellings, `${document}/mcp`, document]) {
          for (const method of path.startsWith(document) ? ["GET"] : ["GET", "POST", "OPTIONS"]) {
            for (const token of [{}, { authorization: "Bearer bad" }, { authorization: "Bearer ada" }]) {
              const headers = { ...listing.headers, ...wrong, ...token }
              const response = yield* exchange({ port, path, method, headers, chunks: [] })
              assert.deepStrictEqual([response.status, response.headers["www-authenticate"]], [403, undefined])
            }
          }
        }
      }
      const page = { ...listing.headers, origin: "http://localhost:5173" }
      assert.strictEqual((yield* exchange({ port, ...listing, headers: page })).status, 401)
      assert.strictEqual((yield* exchange({ port, path: document, method: "GET", headers: page })).status, 200)
      const elsewhere = yield* exchange({ port, path: "/elsewhere", headers: { origin: "http://evil.example" } })
      assert.strictEqual(elsewhere.status, 404)
    }))

  it.live("is the anonymous owner only when that was asked for", () =>
    Effect.gen(function*() {
      const port = yield* start({ anonymous: true })
      const created = yield* exchange({ port, ...calling("job", "wait") })
      const taskId = String(read(created.text).result?.["taskId"])
      assert.include((yield* exchange({ port, ...polling(taskId) })).text, `"status":"working"`)
      const challenge = `Bearer error="invalid_token", error_description="The token is bad", ` +
        `resource_metadata="${metadata}"`
      isRefused(yield* exchange({ port, ...withToken("bad") }), 401, "The token is bad", challenge)
      const ada = yield* exchange({ port, ...withToken("ada", polling(taskId)) })
      assert.strictEqual(read(ada.text).error?.code, -32602)
    }))

  it.live("is asked for a token where anonymous callers may not go", () =>
    Effect.gen(function*() {
      const scopes = ({ method }: Authentication.Operation) => method === "tools/call" ? ["call"] : []
      const port = yield* start({ anonymous: true, scopes })
      isServed(yield* exchange({ port, ...listing }))
      const response = yield* exchange({ port, ...calling("plain", "hello") })
      const challenge = `Bearer scope="call", resource_metadata="${metadata}"`
      isRefused(response, 401, "Unauthorized: a bearer token is needed", challenge)
    }))
})

describe("a token", () => {
  it.live("is read from the header, whatever the case of its scheme", () =>
    Effect.gen(function*() {
      const port = yield* start()
      for (const authorization of ["Bearer ada", "bearer ada", "BEARER   ada", "Bearer a-._~+/=="]) {
        isServed(yield* exchange({ port, ...listing, headers: { ...listing.headers, authorization } }))
      }
    }))

  it.live("that is malformed is a bad request [K2]", () =>
    Effect.gen(function*() {
      const port = yield* start()
      const message = "The Authorization header holds no bearer token that can be read"
      const challenge =
        `Bearer error="invalid_request", error_description="${message}", resource_metadata="${metadata}"`
      const malformed = ["Bearer", "Bearer a b", "Bearer a,b", "Bearer \"ada\"", "Bearer a=b", "Bearer \xe9"]
      for (const authorization of malformed) {
        const response = yield* exchange({ port, ...listing, headers: { ...listing.headers, authorization } })
        isRefused(response, 400, message, challenge)
      }
    }))

  it.live("that is refused is told why, in characters that a header can carry [K2]", () =>
    Effect.gen(function*() {
      const reason = `A "quoted" \\ reason\r\nSet-Cookie: evil=1; ü${"x".repeat(300)}`
      const port = yield* start({}, TokenVerifier.layer(() => Effect.fail(new TokenVerifier.TokenRefused({ reason }))))
      const response = yield* exchange({ port, ...withToken("ada") })
      const said = `A ?quoted? ? reason??Set-Cookie: evil=1; ?${"x".repeat(158)}`
      assert.strictEqual(said.length, 200)
      const challenge = `Bearer error="invalid_token", error_description="${said}", resource_metadata="${metadata}"`
      isRefused(response, 401, said, challenge)
      assert.isUndefined(response.headers["set-cookie"])
    }))

  it.live("that cannot be verified at the moment is neither good nor bad [K9]", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const cause = new Error("the issuer is down")
      const down = TokenVerifier.layer(() =>
        Effect.fail(new TokenVerifier.VerifierUnavailable({ cause, retryAfterMs: 4_001 })))
      const port = yield* start({ anonymous: true }, down, { logs })
      const response = yield* exchange({ port, ...withToken("ada") })
      isRefused(response, 503, "Service unavailable: callers cannot be verified at the moment")
      assert.strictEqual(response.headers["retry-after"], "5")
      assert.isFalse(response.text.includes("issuer is down"))
      yield* exchange({ port, ...withToken("ada") })
      assert.strictEqual(logs.filter((line) => line.includes("Callers cannot be verified")).length, 1)
      assert.isTrue(logs.some((line) => line.includes("the issuer is down")))
    }))
})

describe("scopes", () => {
  const description = "The token does not allow this request"
  const insufficient = (scopes: string) =>
    `Bearer error="insufficient_scope", error_description="${description}", scope="${scopes}", ` +
    `resource_metadata="${metadata}"`

  it.live("must all be there, and the refusal names them all [K6]", () =>
    Effect.gen(function*() {
      const port = yield* start({ scopes: ["read", "write"] })
      for (const token of ["ada", "ada~read", "ada~write+other", "ada~read+writes"]) {
        isRefused(yield* exchange({ port, ...withToken(token) }), 403, description, insufficient("read write"))
      }
      isServed(yield* exchange({ port, ...withToken("ada~other+write+read") }))
    }))

  it.live("may include others [K7]", () =>
    Effect.gen(function*() {
      const port = yield* start({ scopes: ["read", "write"], impliedScopes: { admin: ["read", "write"] } })
      isServed(yield* exchange({ port, ...withToken("ada~admin") }))
      for (const token of ["ada~constructor", "ada~read", "ada~"]) {
        assert.strictEqual((yield* exchange({ port, ...withToken(token) })).status, 403)
      }
    }))

  it.live("may depend on what is asked for, and the headers cannot lie about it [K6]", () =>
    Effect.gen(function*() {
      const scopes = ({ method, name }: Authentication.Operation) =>
        method === "tools/call" && name !== "plain" ? ["tasks", `call-${name}`] : []
      const port = yield* start({ scopes })
      isServed(yield* exchange({ port, ...withToken("ada") }))
      isServed(yield* exchange({ port, ...withToken("ada", calling("plain", "hello")) }))
      const job = calling("job", "hello")
      isRefused(yield* exchange({ port, ...withToken("ada", job) }), 403, description, insufficient("tasks call-job"))
      isServed(yield* exchange({ port, ...withToken("ada~tasks+call-job", job) }))
      const lies = [
        mcpHeaders("tools/call", "plain"),
        mcpHeaders("tools/call", "=?base64?cGxhaW4=?="),
        mcpHeaders("tools/list"),
        { ...mcpHeaders("tools/call", "job"), "mcp-method": "tools/list" },
        { ...mcpHeaders("tools/call", "job"), "mcp-method": undefined }
      ]
      for (const headers of lies) {
        const authorization = "Bearer ada~tasks+call-undefined"
        const response = yield* exchange({ port, chunks: job.chunks, headers: { ...headers, authorization } })
        assert.deepStrictEqual([response.status, read(response.text).error?.code], [400, -32020])
      }
      const encoded = mcpHeaders("tools/call", "=?base64?am9i?=")
      const response = yield* exchange({ port, ...withToken("ada~tasks+call-job", { ...job, headers: encoded }) })
      isServed(response)
    }))
})

describe("the metadata document", () => {
  it.live("is for everybody, under the path of the server and under the root [K1]", () =>
    Effect.gen(function*() {
      const port = yield* start({
        scopesSupported: ["tasks"],
        name: "Reports",
        documentation: "https://mcp.example/docs"
      })
      for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
        const response = yield* exchange({ port, path, method: "GET" })
        assert.deepStrictEqual([response.status, response.headers["content-type"]], [200, "application/json"])
        assert.deepStrictEqual(JSON.parse(response.text), {
          resource,
          authorization_servers: [issuer],
          scopes_supported: ["tasks"],
          bearer_methods_supported: ["header"],
          resource_name: "Reports",
          resource_documentation: "https://mcp.example/docs"
        })
      }
      for (const path of ["/.well-known/oauth-protected-resource/other", "/.well-known/oauth-authorization-server"]) {
        assert.strictEqual((yield* exchange({ port, path, method: "GET" })).status, 404)
      }
    }))

  it.live("of a server at the root is under the root, and says no more than it must", () =>
    Effect.gen(function*() {
      const port = yield* start({ resource: "https://mcp.example" })
      const path = "/.well-known/oauth-protected-resource"
      assert.deepStrictEqual(JSON.parse((yield* exchange({ port, path, method: "GET" })).text), {
        resource: "https://mcp.example",
        authorization_servers: [issuer],
        bearer_methods_supported: ["header"]
      })
      const refused = yield* exchange({ port, ...listing })
      assert.strictEqual(refused.headers["www-authenticate"], `Bearer resource_metadata="https://mcp.example${path}"`)
    }))
})

describe("owners", () => {
  it.live("are told apart by issuer, subject and tenant; a refreshed token is the same one [I2]", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("first")
      const others = "https://others.example"
      const either = JwtVerifier.layerIssuers([issuer, others].map((issuer) => ({
        issuer,
        audience,
        jwksUri: `${issuer}/jwks`,
        tenantClaim: "tid"
      }))).pipe(Layer.provide(endpoint([key]).layer))
      const port = yield* start({}, either)
      const as = (changed: object, request: Request) =>
        Effect.flatMap(sign(key, { tid: "one", ...changed }), (token) =>
          exchange({ port, ...withToken(token, request) }))
      const created = yield* as({ jti: "1" }, calling("job", "wait"))
      const taskId = String(read(created.text).result?.["taskId"])
      const refreshed = yield* as({ jti: "2", exp: 4_000_000_999 }, polling(taskId))
      assert.include(refreshed.text, `"status":"working"`)
      const unknown = yield* as({ sub: "bob" }, polling("unknown"))
      for (const changed of [{ sub: "bob" }, { iss: others }, { tid: "two" }, { sub: "ADA" }]) {
        const response = yield* as(changed, polling(taskId))
        assert.deepStrictEqual([response.status, response.text], [unknown.status, unknown.text])
      }
      const forged = yield* sign(yield* makeKey("first"), { tid: "one" })
      assert.strictEqual((yield* exchange({ port, ...withToken(forged, polling(taskId)) })).status, 401)
    }))
})

describe("a token is nowhere", () => {
  it.live("not on a span, in a log, with a task, nor in what a handler sees [K4]", () =>
    Effect.gen(function*() {
      const key = yield* makeKey("first")
      const verifier = Layer.provide(
        JwtVerifier.layer({ issuer, audience, jwksUri: `${issuer}/jwks` }),
        endpoint([key]).layer
      )
      const spans: Array<Tracer.Span> = []
      const logs: Array<string> = []
      const kept: Array<unknown> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      /** Answers with the names of the headers that a handler can read; a task has outlived its request. */
      const script: Script = () =>
        Effect.map(
          Effect.serviceOption(HttpServerRequest.HttpServerRequest),
          Option.match({ onNone: () => "no request", onSome: ({ headers }) => Object.keys(headers).join(" ") })
        )
      const store = Layer.effect(
        TaskStore.TaskStore,
        Effect.map(TaskStore.TaskStore, (store) =>
          TaskStore.TaskStore.of({
            ...store,
            create: (task, options) => {
              kept.push(task)
              return store.create(task, options)
            }
          }))
      ).pipe(Layer.provide(TaskStore.layerMemory))
      const port = yield* start({}, verifier, { script, logs, store }).pipe(
        Effect.provideService(Tracer.Tracer, tracer),
        Effect.provideService(HttpMiddleware.TracerHeaderFilter, () => true),
        Effect.provide(HttpTransport.layerRedactQuery)
      )
      const sound = yield* sign(key)
      const expired = yield* sign(key, { exp: 1 })

      const plain = yield* exchange({ port, ...withToken(sound, calling("plain", "hello")) })
      assert.include(plain.text, "mcp-method")
      assert.notInclude(plain.text, "authorization")
      const created = yield* exchange({ port, ...withToken(sound, calling("job", "hello")) })
      const taskId = String(read(created.text).result?.["taskId"])
      const polled = yield* exchange({ port, ...withToken(sound, polling(taskId)) }).pipe(
        Effect.repeat({ until: ({ text }) => !text.includes(`"status":"working"`) }),
        Effect.timeout("1 minute")
      )
      assert.include(polled.text, "no request")
      assert.strictEqual((yield* exchange({ port, ...withToken(expired) })).status, 401)
      for (const query of [`access_token=${sound}`, `a=b&token=${sound}`, `=${sound}`]) {
        assert.strictEqual((yield* exchange({ port, path: `/mcp?${query}`, ...listing })).status, 401)
      }

      const everything = JSON.stringify([spans.map(shown), logs, kept])
      assert.include(everything, `["http.response.status_code",401]`)
      assert.include(everything, "http.request.header.authorization")
      assert.include(everything, `["url.query","access_token=REDACTED"]`)
      assert.include(everything, `"ada"`.replaceAll("\"", "\\\""))
      for (const token of [sound, expired]) {
        for (const part of token.split(".")) assert.isFalse(everything.includes(part))
      }
    }))
})

/** Everything that a span would be exported with. */
const shown = (span: Tracer.Span) => ({
  name: span.name,
  attributes: [...span.attributes],
  events: "events" in span ? span.events : [],
  status: String(span.status._tag === "Ended" ? span.status.exit : "")
})
