/**
 * Duties of a client of tasks: section J.
 *
 * @since 0.1.0
 */
import type { Section } from "./Duty.ts"

/** A client of tasks. */
export const clients: Section = {
  letter: "J",
  title: "Clients",
  duties: [
    {
      id: "J1",
      level: "must be so",
      text: "The extension is declared on every request that may make a task, and on every request about one",
      source: "ext-tasks, Capability Negotiation",
      where: "everywhere"
    },
    {
      id: "J2",
      level: "MUST",
      text: "A result, a task and a question are all taken for an answer to a call",
      source: "ext-tasks, Capability Negotiation",
      where: "everywhere",
      sep2663: ["sep-2663-client-handles-polymorphic-result"]
    },
    {
      id: "J3",
      level: "MUST",
      text: "A task is no answer to other requests; an unknown resultType is none to any; a missing one is complete",
      source: "ext-tasks, Capability Negotiation; basic",
      where: "everywhere",
      sep2663: ["sep-2663-client-rejects-task-result-on-unsupported"]
    },
    {
      id: "J4",
      level: "MUST",
      text: "Mcp-Name is the taskId on requests about a task",
      source: "ext-tasks, Routing Headers",
      where: "http",
      sep2663: ["sep-2663-client-emits-mcp-name-on-tasks-methods"]
    },
    {
      id: "J5",
      level: "SHOULD",
      text: "The latest pollIntervalMs is kept; polling goes on to the end or to a cancel, and after a crash",
      source: "ext-tasks, Task Polling",
      where: "everywhere",
      sep2663: ["sep-2663-client-honors-poll-interval"]
    },
    {
      id: "J6",
      level: "SHOULD",
      text: "Questions are answered once each, by key, and only while they are open",
      source: "ext-tasks, Task Update Requests",
      where: "everywhere"
    },
    {
      id: "J7",
      level: "MAY",
      text:
        "A task may be given up after its ttlMs, its state dropped after a cancel, and notifications used for polls",
      source: "ext-tasks, Task Polling",
      where: "everywhere"
    },
    {
      id: "J8",
      level: "MUST NOT",
      text: "A task is not cancelled by notifications/cancelled",
      source: "ext-tasks, Task Cancellation",
      where: "everywhere"
    },
    {
      id: "J9",
      level: "SHOULD",
      text:
        "The acknowledged filter is checked, notifications told apart by subscriptionId, a broken stream opened again",
      source: "subscriptions",
      where: "everywhere"
    },
    {
      id: "J10",
      level: "must be so",
      text: "Equal keys before a task and within it have nothing to do with each other",
      source: "sep-2663, Rationale",
      where: "everywhere"
    },
    {
      id: "J11",
      level: "MUST",
      text: "Every POST has its headers and accepts both types; comments are ignored; no responses are sent",
      source: "streamable-http",
      where: "http"
    },
    {
      id: "J12",
      level: "MUST",
      text: "A requestState comes back as it was, or not at all, under a new id, and goes to no other request",
      source: "mrtr",
      where: "everywhere"
    },
    {
      id: "J13",
      level: "SHOULD",
      text: "After -32022 a version that is served is tried; after -32020 for a parameter the tools are listed again",
      source: "versioning; streamable-http",
      where: "everywhere"
    },
    {
      id: "J14",
      level: "MUST",
      text: "A request whose stream broke is sent again under a new id",
      source: "changelog",
      where: "everywhere"
    },
    {
      id: "J15",
      level: "MUST",
      text: "Tools with a wrong x-mcp-header are left out, right ones mirrored",
      source: "streamable-http, Schema Extension",
      where: "http"
    }
  ]
}
