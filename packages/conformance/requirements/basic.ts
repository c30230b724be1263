/**
 * Duties of the base protocol: sections C (messages, versions, discovery, caching) and D (tools).
 *
 * @since 0.1.0
 */
import type { Section } from "./Duty.ts"

/** Messages, versions, discovery, caching. */
export const base: Section = {
  letter: "C",
  title: "Base protocol, versions, discovery, caching",
  duties: [
    {
      id: "C1",
      level: "MUST",
      text: "The id of a request is a string or an integer, and never null",
      source: "basic, Messages",
      where: "everywhere"
    },
    {
      id: "C2",
      level: "MUST",
      text: "The answer has the id of its request, in its type",
      source: "basic, Messages",
      where: "everywhere"
    },
    {
      id: "C3",
      level: "MUST",
      text: "Every result has a resultType",
      source: "basic, Messages",
      where: "everywhere"
    },
    {
      id: "C4",
      level: "MUST",
      text: "An error has an integer code, the standard one where there is one, a message, and the id of its request",
      source: "basic, Error Codes",
      where: "everywhere"
    },
    {
      id: "C5",
      level: "MUST NOT",
      text: "No code between -32099 and -32020 is sent that the protocol does not define, nor one it has retired",
      source: "basic, Error Codes",
      where: "everywhere"
    },
    {
      id: "C6",
      level: "MUST NOT",
      text: "No request relies on what an earlier one on its connection said",
      source: "basic, Statelessness",
      where: "everywhere"
    },
    {
      id: "C7",
      level: "SHOULD NOT",
      text: "Calls that belong together need not come over the same connection, nor reach the same process",
      source: "basic, Statelessness",
      where: "everywhere"
    },
    {
      id: "C8",
      level: "MUST",
      text:
        "_meta holds the protocol version and the client's capabilities, or the answer is 400 and -32602; " +
        "clientInfo may be missing",
      source: "basic, General Fields",
      where: "everywhere"
    },
    {
      id: "C9",
      level: "MUST",
      text: "A capability that is needed and not declared is answered with 400 and -32021, which names it",
      source: "basic, General Fields",
      where: "everywhere"
    },
    {
      id: "C10",
      level: "SHOULD",
      text: "Every result names the server in _meta; clientInfo decides nothing",
      source: "basic, General Fields",
      where: "everywhere"
    },
    {
      id: "C11",
      level: "MUST",
      text: "Every notification on a listen stream carries its subscriptionId",
      source: "basic; subscriptions",
      where: "everywhere"
    },
    {
      id: "C12",
      level: "MUST",
      text: "server/discover answers with versions, capabilities and caching fields",
      source: "discover; caching",
      where: "everywhere"
    },
    {
      id: "C13",
      level: "MUST",
      text: "Extensions are a map under capabilities, whose keys have a prefix and whose values are objects",
      source: "versioning, Extensions",
      where: "everywhere"
    },
    {
      id: "C14",
      level: "MUST",
      text: "A client without the extension is served by the core protocol, or refused with the fitting error",
      source: "versioning, Extensions",
      where: "everywhere"
    },
    {
      id: "C15",
      level: "SHOULD",
      text: "The refusal of initialize names the versions that are served",
      source: "versioning, Backward Compatibility",
      where: "everywhere"
    },
    {
      id: "C16",
      level: "MUST",
      text: "A result that may be cached says for how long and by whom; one that asks for input does not",
      source: "caching",
      where: "everywhere"
    },
    {
      id: "C17",
      level: "MUST NOT",
      text: "cacheScope is not what keeps one caller's data from another",
      source: "caching",
      where: "everywhere"
    },
    {
      id: "C18",
      level: "MUST",
      text: "JSON Schema 2020-12 is understood, other dialects are refused clearly, and no $ref is fetched",
      source: "basic, JSON Schema Usage",
      where: "everywhere"
    },
    {
      id: "C19",
      level: "MUST NOT",
      text: "No notifications/message is sent for a request that set no logLevel",
      source: "logging; changelog",
      where: "everywhere"
    }
  ]
}

/** Tools. */
export const tools: Section = {
  letter: "D",
  title: "Tools",
  duties: [
    {
      id: "D1",
      level: "MUST",
      text: "The tools capability is declared, tools/list answered, and its list the same on every connection",
      source: "tools",
      where: "everywhere"
    },
    {
      id: "D2",
      level: "SHOULD",
      text: "The list has always the same order",
      source: "tools",
      where: "everywhere"
    },
    {
      id: "D3",
      level: "SHOULD",
      text: "Names are 1 to 128 of A-Z a-z 0-9 _ - . and unique",
      source: "tools, Tool Names",
      where: "everywhere"
    },
    {
      id: "D4",
      level: "must be so",
      text:
        "An unknown tool and a malformed call are JSON-RPC errors; arguments that do not fit, and failures of the " +
        "tool, are results with isError",
      source: "tools, Error Handling",
      where: "everywhere"
    },
    {
      id: "D5",
      level: "MUST",
      text: "structuredContent conforms to the outputSchema, and is there as text too",
      source: "tools, Structured Content",
      where: "everywhere"
    },
    {
      id: "D6",
      level: "MUST",
      text: "Inputs are validated, access controlled, invocations rate-limited, outputs sanitized",
      source: "tools, Security Considerations",
      where: "everywhere"
    }
  ]
}
