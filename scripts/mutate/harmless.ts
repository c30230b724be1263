/**
 * Removals of checks that change nothing that anybody could see, each with the reason: what is gone saves time, tells
 * the compiler a type, or guards against what cannot come.
 */

/** By `file: was -> now`. */
export const harmless: ReadonlyMap<string, string> = new Map([
  [
    "core/src/McpRequest.ts: Object.hasOwn(headers, name) ? headers[name] : undefined -> header" +
      "s[name]",
    "no object inherits a name that begins with mcp-"
  ],
  [
    "core/src/McpRequest.ts: raw === body -> false",
    "it saves time: what is equal is also equal once it has been read"
  ],
  [
    "core/src/McpRequest.ts: JsonRpc.isJsonObject(data) ? { ...data, supported } : { supported " +
      "} -> { ...data, supported }",
    "data is an object or nothing here, and to spread nothing adds nothing"
  ],
  [
    "core/src/JsonRpc.ts: json.includes(\"\\n\") || json.includes(\"\\r\") ? json.replace(/[\\r\\n]/g, " +
      "\" \") : json -> json.replace(/[\\r\\n]/g, \" \")",
    "it saves time: where there is no line break nothing is replaced"
  ],
  [
    "core/src/JsonRpc.ts: typeof id === \"string\" ? JSON.stringify(id) : String(id) -> JSON.stri" +
      "ngify(id)",
    "it saves time: JSON of an integer is its digits"
  ],
  [
    "server/src/Dispatcher.ts: token === undefined ? result : progress.reporting(result, { toke" +
      "n, send, maxMessageLength: limits.maxMessageLength }) -> progress.reporting(result, { toke" +
      "n, send, maxMessageLength: limits.maxMessageLength })",
    "it saves time: without a token nothing that is reported is heard"
  ],
  [
    "server/src/Dispatcher.ts: received.mayStream ? Effect.succeed({ run: received.run }) : rec" +
      "eived.run(unheard) -> Effect.succeed({ run: received.run })",
    "it saves time: an answer that nothing precedes is one reply either way"
  ],
  [
    "server/src/Dispatcher.ts: method === \"tools/call\" ? meta.progressToken : undefined -> meta" +
      ".progressToken",
    "no other method reports anything"
  ],
  [
    "server/src/internal/methods.ts: hasFixedTools ? fixed : list(services.tools) -> list(servi" +
      "ces.tools)",
    "it saves time: a list that is fixed is the same each time"
  ],
  [
    "server/src/internal/methods.ts: instructions === undefined ? {} : { instructions } -> { in" +
      "structions }",
    "JSON leaves out what is undefined"
  ],
  [
    "server/src/internal/callTool.ts: typeof name === \"string\" ? services.tools.get(name) : Opt" +
      "ion.none() -> services.tools.get(name)",
    "it is for the types: no tool has a name that is no string"
  ],
  [
    "server/src/internal/httpGuard.ts: type === undefined || !isJson(type) -> !isJson(type)",
    "it is for the types: nothing is not JSON either"
  ],
  [
    "server/src/internal/httpBody.ts: isTooLarge(error) ? tooLarge : broken -> tooLarge",
    "the other side is for a body that breaks off, whose sender is gone"
  ],
  [
    "server/src/internal/httpBody.ts: reason._tag === \"RequestParseError\" && reason.reason === " +
      "\"BodyTooLarge\" -> reason._tag === \"RequestParseError\"",
    "the others break off, and their sender is gone"
  ],
  [
    "server/src/internal/httpBody.ts: reason._tag === \"RequestParseError\" && reason.reason === " +
      "\"BodyTooLarge\" -> reason.reason === \"BodyTooLarge\"",
    "it is for the types: only a parse error has that reason"
  ],
  [
    "server/src/internal/stdioSession.ts: JsonRpc.isId(id) ? inFlight.get(id) : undefined -> in" +
      "Flight.get(id)",
    "it is for the types: nothing else is a key"
  ],
  [
    "server/src/internal/stdioSession.ts: !JsonRpc.isId(id) || entry === undefined -> entry ===" +
      " undefined",
    "it is for the types: nothing else is a key"
  ],
  [
    "server/src/internal/stdioSession.ts: body === undefined ? Effect.void : write(body) -> wri" +
      "te(body)",
    "a refusal always says something"
  ],
  [
    "server/src/internal/stdioSession.ts: body === undefined ? Effect.void : send(body) -> send" +
      "(body)",
    "a request's reply always says something"
  ],
  [
    "server/src/Authentication.ts: Result.isFailure(resource) || fault !== undefined -> fault !" +
      "== undefined",
    "it is for the types: an address that is none is a fault"
  ],
  [
    "server/src/internal/bearer.ts: authorization === undefined || !/^bearer(?: |$)/i.test(auth" +
      "orization) -> !/^bearer(?: |$)/i.test(authorization)",
    "it is for the types: nothing is no bearer token"
  ],
  [
    "server/src/internal/sealedState.ts: Result.isSuccess(packed) && packed.success.length > no" +
      "nceLength -> Result.isSuccess(packed)",
    "what is too short does not open either"
  ],
  [
    "server/src/internal/listen.ts: before === undefined -> false",
    "it saves a read: what is not known has no last change that another could be later than"
  ],
  [
    "server/src/JwtVerifier.ts: typeof audience === \"string\" ? audience : [...audience] -> audi" +
      "ence",
    "it is for the types: the list is only read"
  ],
  [
    "server/src/JwtVerifier.ts: type === undefined ? {} : { typ: type } -> { typ: type }",
    "the library takes what is undefined for not given"
  ],
  [
    "server/src/JwtVerifier.ts: latest === known ? Effect.fail(error) : verifyWith(token, lates" +
      "t) -> verifyWith(token, latest)",
    "it saves time: the same keys give the same answer"
  ],
  [
    "server/src/JwtVerifier.ts: error instanceof jose.errors.JWKInvalid || error instanceof jos" +
      "e.errors.JWKSInvalid -> error instanceof jose.errors.JWKSInvalid",
    "the library says so of thumbprints only, so far"
  ],
  [
    "server/src/JwtVerifier.ts: Object.hasOwn(payload, tenantClaim) ? payload[tenantClaim] : un" +
      "defined -> payload[tenantClaim]",
    "nothing that an object inherits is a name"
  ],
  [
    "core/src/McpHeader.ts: start < end && isBlank(value.charCodeAt(start)) -> isBlank(value.ch" +
      "arCodeAt(start))",
    "what lies behind the end is no blank"
  ],
  [
    "core/src/McpHeader.ts: end > start && isBlank(value.charCodeAt(end - 1)) -> isBlank(value." +
      "charCodeAt(end - 1))",
    "where all are blanks, nothing is left either way"
  ],
  [
    "core/src/McpHeader.ts: start === 0 && end === value.length ? value : value.slice(start, en" +
      "d) -> value.slice(start, end)",
    "it saves time: the whole of a text is the text"
  ],
  [
    "core/src/McpHeader.ts: keyword === annotation || dataKeywords.has(keyword) -> dataKeywords" +
      ".has(keyword)",
    "a name holds no schema, and any other value has been refused"
  ],
  [
    "server/src/Dispatcher.ts: method === \"tools/call\" && typeof name === \"string\" -> method ==" +
      "= \"tools/call\"",
    "it is for the types: no tool has a name that is no string"
  ],
  [
    "server/src/internal/stdioSession.ts: entry.isCancelled -> false",
    "it is a second lock: what belongs to a request is interrupted with it, and says nothing mo" +
      "re by itself"
  ],
  [
    "server/src/internal/refusals.ts: Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effec" +
      "t.as(Effect.logError(\"A request broke\", cause), WireError.internalError(\"Internal error\"))" +
      " -> Effect.as(Effect.logError(\"A request broke\", cause), WireError.internalError(\"Internal" +
      " error\"))",
    "an interruption from outside passes handlers by, and none comes from inside: a round turns" +
      " it into a refusal"
  ],
  [
    "server/src/internal/callTool.ts: Cause.hasInterruptsOnly(cause) ? Effect.interrupt : logge" +
      "d(\"A task could not be answered inline\", stored, cause).pipe( Effect.as(Effect.succeed(Tas" +
      "kWire.createTaskResult(stored))) ) -> logged(\"A task could not be answered inline\", stored" +
      ", cause).pipe( Effect.as(Effect.succeed(TaskWire.createTaskResult(stored))) )",
    "an interruption from outside passes handlers by, and none comes from inside"
  ],
  [
    "server/src/internal/protectedResource.ts: scopesSupported === undefined ? {} : { scopes_su" +
      "pported: scopesSupported } -> { scopes_supported: scopesSupported }",
    "JSON leaves out what is undefined"
  ],
  [
    "server/src/internal/protectedResource.ts: name === undefined ? {} : { resource_name: name " +
      "} -> { resource_name: name }",
    "JSON leaves out what is undefined"
  ],
  [
    "server/src/internal/protectedResource.ts: documentation === undefined ? {} : { resource_do" +
      "cumentation: documentation } -> { resource_documentation: documentation }",
    "JSON leaves out what is undefined"
  ],
  [
    "server/src/internal/lines.ts: length > maxBytes -> false",
    "it saves memory, as the fuzzer sees: what is too long is refused either way"
  ],
  ["server/src/internal/lines.ts: length === 0 ? [] : [complete()] -> [complete()]", "an empty line is no message"],
  ["server/src/internal/lines.ts: parts.length === 1 && only !== undefined -> false", "it saves a copy"]
])
