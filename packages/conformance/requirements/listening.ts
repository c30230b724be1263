/**
 * Duties of subscriptions and notifications (section H), of security (I) and of authorization (K).
 *
 * @since 0.1.0
 */
import type { Section } from "./Duty.ts"

/** Subscriptions and notifications. */
export const notifications: Section = {
  letter: "H",
  title: "Subscriptions and notifications",
  duties: [
    {
      id: "H1",
      level: "MUST",
      text: "The acknowledgement comes first, with the part of the filter that is honoured",
      source: "subscriptions; ext-tasks, Task Status Notifications",
      where: "everywhere"
    },
    {
      id: "H2",
      level: "MUST NOT",
      text: "Nothing is sent that was not asked for: no other kind, no other task",
      source: "subscriptions",
      where: "everywhere"
    },
    {
      id: "H3",
      level: "MUST",
      text: "taskIds from a client that did not declare the extension are refused: -32021",
      source: "ext-tasks, Task Status Notifications",
      where: "everywhere",
      sep2663: ["sep-2663-subscribe-missing-capability-non-declaring"]
    },
    {
      id: "H4",
      level: "MUST",
      text:
        "notifications/tasks says all that tasks/get would, with the subscriptionId in the type of the request's id",
      source: "ext-tasks, Task Status Notifications",
      where: "everywhere"
    },
    {
      id: "H5",
      level: "MUST NOT",
      text: "notifications/progress and notifications/message are never sent for tasks, nor on a listen stream",
      source: "ext-tasks, Task Status Notifications",
      where: "everywhere",
      sep2663: ["sep-2663-no-progress-or-message-on-task-stream"]
    },
    {
      id: "H6",
      level: "SHOULD",
      text: "A subscription ends with a result that carries its subscriptionId",
      source: "subscriptions",
      where: "everywhere"
    },
    {
      id: "H7",
      level: "MUST",
      text: "Progress carries the token of a request that is under way, only rises, and stops with the answer",
      source: "progress",
      where: "everywhere"
    },
    {
      id: "H8",
      level: "SHOULD",
      text: "A change of the tools is told to those who asked, if that was advertised",
      source: "subscriptions; tools",
      where: "everywhere"
    }
  ]
}

/** Security. */
export const security: Section = {
  letter: "I",
  title: "Security",
  duties: [
    {
      id: "I1",
      level: "MUST",
      text: "Task ids cannot be guessed",
      source: "ext-tasks, Security Considerations",
      where: "everywhere"
    },
    {
      id: "I2",
      level: "MUST",
      text: "Every request for a task is checked against its caller; another caller's task is answered like none",
      source: "ext-tasks, Security Considerations",
      where: "everywhere"
    },
    {
      id: "I3",
      level: "MUST",
      text: "A question of a task is trusted no more than one that is asked directly",
      source: "ext-tasks, Security Considerations",
      where: "everywhere"
    },
    {
      id: "I4",
      level: "must be so",
      text: "Nobody can listen to another caller's tasks",
      source: "ext-tasks, Security Considerations",
      where: "everywhere"
    },
    {
      id: "I5",
      level: "MUST",
      text: "Origin is checked (A2), a requestState sealed (F8), and clientInfo never trusted",
      source: "streamable-http; mrtr; basic",
      where: "everywhere"
    }
  ]
}

/** Authorization, where it is used. */
export const authorization: Section = {
  letter: "K",
  title: "Authorization",
  duties: [
    {
      id: "K1",
      level: "MUST",
      text:
        "The protected-resource metadata names at least one authorization server, and clients can find it: by " +
        "WWW-Authenticate and at its well-known addresses",
      source: "authorization, Authorization Server Discovery",
      where: "http"
    },
    {
      id: "K2",
      level: "MUST",
      text: "No token, an invalid and an expired one are answered with 401; a malformed request with 400",
      source: "authorization, Error Handling",
      where: "http"
    },
    {
      id: "K3",
      level: "MUST",
      text: "Only tokens that were issued for this server are accepted",
      source: "authorization, Token Handling",
      where: "http"
    },
    {
      id: "K4",
      level: "MUST NOT",
      text: "A token is not taken from the query, nor passed on, stored or logged",
      source: "authorization, Token Requirements; Token Theft",
      where: "http"
    },
    {
      id: "K5",
      level: "SHOULD",
      text: "A challenge names the scopes that are needed",
      source: "authorization, Scope Selection Strategy",
      where: "http"
    },
    {
      id: "K6",
      level: "SHOULD",
      text:
        "A token that lacks a scope is answered with 403, insufficient_scope, all scopes of the operation, and the " +
        "metadata",
      source: "authorization, Runtime Insufficient Scope Errors",
      where: "http"
    },
    {
      id: "K7",
      level: "MUST",
      text: "A broad scope counts for those it includes",
      source: "authorization, Step-Up Authorization Flow",
      where: "http"
    },
    {
      id: "K8",
      level: "SHOULD NOT",
      text: "offline_access is neither demanded nor offered",
      source: "authorization, Refresh Tokens",
      where: "http"
    },
    {
      id: "K9",
      level: "must be so",
      text: "What cannot be verified at the moment is let in by nobody and called invalid by nobody",
      source: "authorization, Token Handling",
      where: "http"
    }
  ]
}
