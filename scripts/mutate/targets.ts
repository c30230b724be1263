/**
 * Where a message is checked, and which tests notice first: the data of `npm run mutate -- --checks`.
 */

/** A file with checks. */
export interface Target {
  /** Below `packages/`, without its extension. */
  readonly file: string
  /** The tests that are asked first, below `packages/`. */
  readonly tests: ReadonlyArray<string>
  /** Checks that are no decision: what stands there, and what is left. */
  readonly more?: ReadonlyArray<readonly [was: string, now: string]>
}

const ofCore = (name: string) => `core/test/${name}.test.ts`

const ofServer = (name: string) => `server/test/${name}.test.ts`

const dispatcher = ["Dispatcher", "Dispatcher.wire", "Dispatcher.discover"].map(ofServer)
const rounds = ["CallRounds", "CallRounds.declared", "RequestState"].map(ofServer)
const tokens = ["JwtVerifier", "JwtVerifier.keys"].map(ofServer)
const stdio = ["StdioTransport", "StdioTransport.cancel"].map(ofServer)

/** Every file with checks. */
export const targets: ReadonlyArray<Target> = [
  { file: "core/src/McpRequest", tests: ["McpRequest.table", "McpRequest.headers"].map(ofCore) },
  {
    file: "server/src/Dispatcher",
    tests: [...dispatcher, ...["ToolSwitch", "progress", "ToolList", "RateLimits", "Observing"].map(ofServer)],
    more: [["paramHeaders: toolHeaders.of(tools)", ""]]
  },
  {
    file: "server/src/internal/methods",
    tests: [
      ...dispatcher,
      ...["RateLimits", "ToolList", "ToolSwitch"].map(ofServer),
      "conformance/test/duties/headers.test.ts"
    ],
    more: [
      [`["tasks/get", { requiresTasks: true,`, `["tasks/get", { requiresTasks: false,`],
      [`["tasks/update", { requiresTasks: true,`, `["tasks/update", { requiresTasks: false,`],
      [`["tasks/cancel", { requiresTasks: true,`, `["tasks/cancel", { requiresTasks: false,`],
      [`["tools/call", { requiresTasks: false, nameParam: "name" }]`, `["tools/call", { requiresTasks: false }]`],
      [`["tasks/get", { requiresTasks: true, nameParam: "taskId" }]`, `["tasks/get", { requiresTasks: true }]`],
      [`["tasks/update", { requiresTasks: true, nameParam: "taskId" }]`, `["tasks/update", { requiresTasks: true }]`],
      [`["tasks/cancel", { requiresTasks: true, nameParam: "taskId" }]`, `["tasks/cancel", { requiresTasks: true }]`],
      ["          rates.poll,", "          Effect.void,"]
    ]
  },
  {
    file: "server/src/internal/callTool",
    tests: ["Dispatcher", "Dispatcher.create", "RateLimits", "CallRounds"].map(ofServer),
    more: [["  yield* services.rates.call\n", ""], ["  yield* services.rates.create\n", ""]]
  },
  { file: "server/src/internal/refusals", tests: dispatcher },
  { file: "core/src/JsonRpc", tests: ["JsonRpc", "McpRequest.table"].map(ofCore) },
  {
    file: "server/src/internal/httpGuard",
    tests: ["server/test/HttpGuard.test.ts"],
    more: [
      [`/^application\\/json\\s*(;|$)/i`, "/^application\\/json/i"],
      [`/^https?:\\/\\/([^/@]+)$/i`, "/^https?:\\/\\/([^/]+)/i"],
      [`"allow", "POST"`, `"x", "POST"`]
    ]
  },
  {
    file: "server/src/HttpTransport",
    tests: ["HttpTransport", "HttpGuard", "Observing", "HttpStreams", "RateLimits"].map(ofServer),
    more: [["guard(request) ??\n", ""], ["guard(request) ?? served", "served"]]
  },
  {
    file: "server/src/internal/httpBody",
    tests: ["server/test/HttpBody.test.ts", "server/test/HttpTransport.test.ts"],
    more: [
      [`new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })`, `new TextDecoder("utf-8")`],
      ["Context.add(context, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes))", "context"],
      ["wait(() => resume(Effect.fail(tooSlow)))", "wait(() => {})"]
    ]
  },
  {
    file: "server/src/internal/stdioSession",
    tests: stdio,
    more: [[`new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })`, `new TextDecoder("utf-8")`]]
  },
  {
    file: "server/src/Authentication",
    tests: ["server/test/Authentication.test.ts"],
    more: [["Effect.provideService(HttpServerRequest.HttpServerRequest, withoutToken(request))", "(same) => same"]]
  },
  { file: "server/src/internal/bearer", tests: ["server/test/Authentication.test.ts"] },
  {
    file: "server/src/internal/sealedState",
    tests: rounds,
    more: [
      ["TaskOwner.key(owner), tool, given", "tool, given"],
      ["TaskOwner.key(owner), tool, given", "TaskOwner.key(owner), given"],
      ["TaskOwner.key(owner), tool, given", "TaskOwner.key(owner), tool"],
      ["aead.decrypt(key, sealed, { nonce, aad })", "aead.decrypt(key, sealed, { nonce })"]
    ]
  },
  { file: "server/src/internal/callRounds", tests: rounds },
  {
    file: "server/src/internal/listen",
    tests: ["subscriptions", "subscriptions.refusals", "ToolSwitch"].map(ofServer),
    more: [["      yield* place(TaskOwner.key(owner))\n", ""]]
  },
  {
    file: "server/src/JwtVerifier",
    tests: tokens,
    more: [
      ["    issuer,\n    audience: typeof", "    audience: typeof"],
      [`    audience: typeof audience === "string" ? audience : [...audience],\n`, ""],
      ["    algorithms,\n", ""],
      [`requiredClaims: ["exp", "sub"]`, `requiredClaims: ["sub"]`],
      [`requiredClaims: ["exp", "sub"]`, `requiredClaims: ["exp"]`],
      ["{ ...expected, currentDate: DateTime.toDateUtc(now) }", "expected"],
      ["Schema.isMinLength(1), ", ""],
      [", Schema.isMaxLength(255)", ""]
    ]
  },
  {
    file: "core/src/McpHeader",
    tests: ["McpHeader", "McpRequest.headers"].map(ofCore),
    more: [
      [`new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })`, `new TextDecoder("utf-8")`],
      ["/^[!#$%&'*+\\-.^_`|~0-9A-Za-z]+$/", "/^/"],
      [`new Set(["const", "default", "enum", "examples"])`, "new Set()"]
    ]
  },
  { file: "server/src/internal/ownerRates", tests: ["server/test/RateLimits.test.ts"] },
  { file: "server/src/internal/progress", tests: ["server/test/progress.test.ts"] },
  { file: "server/src/internal/deadlines", tests: ["server/test/HttpBody.test.ts"] },
  { file: "server/src/internal/eventStream", tests: ["server/test/HttpStreams.test.ts"] },
  { file: "server/src/internal/protectedResource", tests: ["server/test/Authentication.test.ts"] },
  { file: "server/src/internal/webAddress", tests: ["Authentication", "JwtVerifier"].map(ofServer) },
  {
    file: "server/src/internal/jwks",
    tests: tokens,
    more: [
      ["HttpClient.filterStatusOk(yield* HttpClient.HttpClient)", "yield* HttpClient.HttpClient"],
      [`{ redirect: "error" }`, "{}"],
      ["    Effect.timeout(timeout),\n", ""]
    ]
  },
  { file: "server/src/StdioTransport", tests: [...stdio, "server/test/StdioTransport.signal.test.ts"] },
  { file: "server/src/internal/lines", tests: stdio }
]

/** All tests that might notice, asked when the first ones do not. */
export const everyTest: ReadonlyArray<string> = [
  ...["JsonRpc", "McpHeader", "McpRequest.table", "McpRequest.headers"].map(ofCore),
  "server/test",
  "conformance/test/duties"
]
