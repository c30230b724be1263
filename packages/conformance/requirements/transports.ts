/**
 * Duties of the transports: sections A (Streamable HTTP) and B (stdio).
 *
 * @since 0.1.0
 */
import type { Section } from "./Duty.ts"

/** Streamable HTTP, as a server. */
export const http: Section = {
  letter: "A",
  title: "Streamable HTTP",
  duties: [
    {
      id: "A1",
      level: "MUST",
      text: "There is one endpoint path, and it takes POST",
      source: "streamable-http",
      where: "http"
    },
    {
      id: "A2",
      level: "MUST",
      text: "Origin is checked on every connection; one that is present and wrong is answered with 403",
      source: "streamable-http, Security & Endpoint",
      where: "http"
    },
    {
      id: "A3",
      level: "SHOULD",
      text: "A local server binds to loopback only; callers are authenticated",
      source: "streamable-http, Security & Endpoint",
      where: "http"
    },
    {
      id: "A4",
      level: "MUST",
      text: "A body is one request or one notification: no batch, no response",
      source: "streamable-http, Sending Messages",
      where: "http"
    },
    {
      id: "A5",
      level: "MUST",
      text: "An accepted notification is answered with 202 and no body, a refused one with an HTTP error",
      source: "streamable-http, Sending Messages",
      where: "http"
    },
    {
      id: "A6",
      level: "MUST",
      text: "A request is answered as application/json or text/event-stream",
      source: "streamable-http, Sending Messages",
      where: "http"
    },
    {
      id: "A7",
      level: "MUST",
      text: "What precedes an answer on its stream are notifications that belong to its request, and never requests",
      source: "streamable-http, Receiving Messages",
      where: "http"
    },
    {
      id: "A8",
      level: "SHOULD",
      text: "The answer ends the stream",
      source: "streamable-http, Receiving Messages",
      where: "http"
    },
    {
      id: "A9",
      level: "SHOULD",
      text: "A stream says X-Accel-Buffering: no, and sends comments to stay alive",
      source: "streamable-http, Receiving Messages",
      where: "http"
    },
    {
      id: "A10",
      level: "MUST",
      text: "A client that goes away cancels its request: its work stops, nothing more is sent for it",
      source: "streamable-http, Cancellation",
      where: "http"
    },
    {
      id: "A11",
      level: "MUST",
      text: "MCP-Protocol-Version is there and equals _meta, or the answer is 400 and -32020",
      source: "streamable-http, Protocol Version Header",
      where: "http"
    },
    {
      id: "A12",
      level: "MUST",
      text: "A version that is not served is answered with 400 and -32022, which lists those that are",
      source: "streamable-http, Protocol Version Header",
      where: "everywhere"
    },
    {
      id: "A13",
      level: "MUST",
      text: "An unknown method is answered with 404 and -32601",
      source: "streamable-http, Protocol Version Header",
      where: "everywhere"
    },
    {
      id: "A14",
      level: "MUST",
      text:
        "Mcp-Method, Mcp-Name and Mcp-Param-* are there and equal the body, or the answer is 400 and -32020; equal " +
        "ones change nothing",
      source: "streamable-http, Server Validation",
      where: "http",
      sep2663: [
        "sep-2663-routing-headers-accepted-on-tasks-get",
        "sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get"
      ]
    },
    {
      id: "A15",
      level: "MUST",
      text:
        "The base64 form of Mcp-Name and Mcp-Param-* is decoded before it is compared; characters that no field " +
        "value has are refused",
      source: "streamable-http, Value Encoding",
      where: "http"
    },
    {
      id: "A16",
      level: "MUST NOT",
      text: "No Mcp-Param header is expected for an argument that is null or absent",
      source: "streamable-http, Server Behavior for Custom Headers",
      where: "http"
    },
    {
      id: "A17",
      level: "SHOULD",
      text: "Integers in headers are compared as numbers",
      source: "streamable-http, Server Behavior for Custom Headers",
      where: "http"
    },
    {
      id: "A18",
      level: "MUST",
      text: "The names of headers are compared without regard to case, their values with it",
      source: "streamable-http, Request Metadata",
      where: "http"
    },
    {
      id: "A19",
      level: "SHOULD",
      text:
        "GET and DELETE are answered with 405; Mcp-Session-Id and Last-Event-ID are ignored, and no session is minted",
      source: "streamable-http, Backward Compatibility",
      where: "http"
    },
    {
      id: "A20",
      level: "MUST",
      text: "Messages are UTF-8",
      source: "transports",
      where: "everywhere"
    },
    {
      id: "A21",
      level: "MUST",
      text:
        "An x-mcp-header is a token, unique without regard to case, on a string, integer or boolean that " +
        "properties alone lead to",
      source: "streamable-http, Schema Extension",
      where: "http"
    }
  ]
}

/** stdio, as server and client. */
export const pipes: Section = {
  letter: "B",
  title: "stdio",
  duties: [
    {
      id: "B1",
      level: "MUST NOT",
      text: "There is no line break within a message, and one message on a line",
      source: "stdio",
      where: "stdio"
    },
    {
      id: "B2",
      level: "MUST NOT",
      text: "Nothing but messages goes to the standard output; logs go to the standard error",
      source: "stdio",
      where: "stdio"
    },
    {
      id: "B3",
      level: "MUST NOT",
      text: "The server sends no requests, the client no responses",
      source: "stdio",
      where: "stdio"
    },
    {
      id: "B4",
      level: "MUST",
      text: "The client tells subscriptions apart by the subscriptionId in _meta",
      source: "stdio",
      where: "stdio"
    },
    {
      id: "B5",
      level: "MUST",
      text: "notifications/cancelled stops a request: its work ends soon, and nothing more is sent for it",
      source: "stdio; cancellation",
      where: "stdio"
    },
    {
      id: "B6",
      level: "SHOULD",
      text: "The server ends when its input does; the client closes it, waits, then sends SIGTERM and SIGKILL",
      source: "stdio, Shutdown",
      where: "stdio"
    },
    {
      id: "B7",
      level: "SHOULD",
      text: "The client starts a dead server again, gives up what was in flight, and subscribes again",
      source: "stdio; subscriptions",
      where: "stdio"
    },
    {
      id: "B8",
      level: "SHOULD",
      text: "The client asks server/discover first; one of both eras falls back on any error",
      source: "stdio, Backward Compatibility",
      where: "stdio"
    },
    {
      id: "B9",
      level: "SHOULD NOT",
      text: "The client does not take output on the standard error for a failure",
      source: "stdio",
      where: "stdio"
    }
  ]
}
