/**
 * Duties of the tasks extension, as a server: sections E (tasks), F (input) and G (cancelling).
 *
 * @since 0.1.0
 */
import type { Section } from "./Duty.ts"

/** Tasks. */
export const tasks: Section = {
  letter: "E",
  title: "Tasks",
  duties: [
    {
      id: "E1",
      level: "MUST NOT",
      text: "A request that did not declare the extension is not answered with a task, whatever came before it",
      source: "ext-tasks, Capability Negotiation",
      where: "everywhere",
      sep2663: ["sep-2663-server-rejects-undeclared-client"]
    },
    {
      id: "E2",
      level: "MUST",
      text: "A call that can only be served as a task is refused without it: -32021, naming the extension",
      source: "ext-tasks, Capability Negotiation",
      where: "everywhere",
      sep2663: [
        "sep-2663-server-returns-missing-capability-when-required",
        "sep-2663-server-returns-missing-capability-data-shape"
      ]
    },
    {
      id: "E3",
      level: "MUST",
      text: "tasks/get, tasks/update and tasks/cancel are refused without it: -32021",
      source: "ext-tasks, Error Handling",
      where: "everywhere",
      sep2663: ["sep-2663-tasks-methods-non-declaring"]
    },
    {
      id: "E4",
      level: "MUST",
      text: "resultType is task on a created task, and on nothing else",
      source: "ext-tasks, Polymorphic Results",
      where: "everywhere",
      sep2663: ["sep-2663-result-type-task-on-create", "sep-2663-no-task-result-type-on-others"]
    },
    {
      id: "E5",
      level: "MUST NOT",
      text: "A task is not answered before tasks/get would find it",
      source: "ext-tasks, Task Creation",
      where: "everywhere",
      sep2663: ["sep-2663-durable-create-strong-consistency"]
    },
    {
      id: "E6",
      level: "SHOULD",
      text: "What must be asked before a task exists is asked before it is created",
      source: "ext-tasks, Task Creation",
      where: "everywhere",
      sep2663: ["sep-2663-mrtr-synchronous-before-task-creation"]
    },
    {
      id: "E7",
      level: "MUST",
      text:
        "Every task has taskId, status, createdAt, lastUpdatedAt and ttlMs: ISO 8601 instants, integer " +
        "milliseconds or null",
      source: "ext-tasks, Tasks",
      where: "everywhere"
    },
    {
      id: "E8",
      level: "must be so",
      text: "lastUpdatedAt moves with every change",
      source: "ext-tasks, Tasks",
      where: "everywhere"
    },
    {
      id: "E9",
      level: "MUST",
      text: "tasks/get shows what belongs to each status: all open questions, the result, the error, or nothing more",
      source: "ext-tasks, Task Polling",
      where: "everywhere",
      sep2663: [
        "sep-2663-tasks-get-status-working",
        "sep-2663-tasks-get-status-input-required",
        "sep-2663-tasks-get-status-completed",
        "sep-2663-tasks-get-status-cancelled",
        "sep-2663-tasks-get-status-failed"
      ]
    },
    {
      id: "E10",
      level: "MUST",
      text: "resultType is complete on what tasks/get, tasks/update and tasks/cancel answer",
      source: "ext-tasks, Task Polling",
      where: "everywhere",
      sep2663: [
        "sep-2663-result-type-complete-on-tasks-get",
        "sep-2663-result-type-complete-on-tasks-update",
        "sep-2663-result-type-complete-on-tasks-cancel"
      ]
    },
    {
      id: "E11",
      level: "MUST NOT",
      text: "A result with isError does not fail its task: it completes it",
      source: "ext-tasks, Task Execution Errors",
      where: "everywhere",
      sep2663: ["sep-2663-failed-status-jsonrpc-only", "sep-2663-tool-error-uses-completed-status"]
    },
    {
      id: "E12",
      level: "MUST",
      text: "A failed task carries the JSON-RPC error it failed with, and says so in its statusMessage",
      source: "ext-tasks, Task Execution Errors",
      where: "everywhere",
      sep2663: ["sep-2663-failed-includes-statusmessage"]
    },
    {
      id: "E13",
      level: "must be so",
      text: "A task that has ended does not change",
      source: "ext-tasks, Task Status",
      where: "everywhere"
    },
    {
      id: "E14",
      level: "must be so",
      text: "No task is discarded before its ttlMs; after it a live one fails, and an ended one is forgotten",
      source: "ext-tasks, Task Polling",
      where: "everywhere"
    },
    {
      id: "E15",
      level: "MUST",
      text: "An unknown taskId is answered with -32602, by each of the three methods",
      source: "ext-tasks, Error Handling",
      where: "everywhere",
      sep2663: [
        "sep-2663-tasks-get-invalid-task-id-32602",
        "sep-2663-tasks-update-cancel-invalid-task-id-32602",
        "sep-2663-update-error-unknown-task-id",
        "sep-2663-cancel-error-unknown-task-id"
      ]
    },
    {
      id: "E16",
      level: "MAY",
      text: "Polls that come faster than pollIntervalMs may be limited",
      source: "ext-tasks, Task Polling",
      where: "everywhere"
    },
    {
      id: "E17",
      level: "MUST",
      text: "tasks/result is gone, and tasks/list with it: -32601",
      source: "sep-2663, Backward Compatibility",
      where: "everywhere",
      sep2663: ["sep-2663-tasks-result-removed-method-not-found"]
    },
    {
      id: "E18",
      level: "MUST",
      text:
        "What earlier revisions knew of tasks means nothing: the task parameter is ignored, the capability " +
        "declares nothing and is not advertised, and an earlier revision does not get the extension",
      source: "sep-2663, Backward Compatibility",
      where: "everywhere",
      sep2663: [
        "sep-2663-legacy-task-param-ignored",
        "sep-2663-migrate-from-legacy-capabilities",
        "sep-2663-legacy-capability-treated-as-non-declaring"
      ]
    },
    {
      id: "E19",
      level: "SHOULD",
      text: "Errors say what caused them; other requests than tools/call may become tasks one day",
      source: "ext-tasks, Error Handling",
      where: "everywhere"
    },
    {
      id: "E20",
      level: "must be so",
      text: "There is no related-task in _meta, and no requestState on a task",
      source: "sep-2663",
      where: "everywhere"
    }
  ]
}

/** Input. */
export const input: Section = {
  letter: "F",
  title: "Input: multi round-trip requests and tasks/update",
  duties: [
    {
      id: "F1",
      level: "MUST",
      text: "A key names one question for the life of its task, and is never used again",
      source: "ext-tasks, Task Update Requests",
      where: "everywhere",
      sep2663: ["sep-2663-input-request-key-unique-per-task", "sep-2663-no-key-reuse-after-response"]
    },
    {
      id: "F2",
      level: "MUST",
      text: "tasks/update is acknowledged with an empty result",
      source: "ext-tasks, Task Update Requests",
      where: "everywhere",
      sep2663: ["sep-2663-update-ack-empty-result"]
    },
    {
      id: "F3",
      level: "SHOULD",
      text: "An answer to a key that is not open is ignored: never asked, answered, withdrawn, or on an ended task",
      source: "ext-tasks, Task Update Requests",
      where: "everywhere",
      sep2663: ["sep-2663-update-ignore-unknown-keys"]
    },
    {
      id: "F4",
      level: "MAY",
      text: "Some answers may come before others: the task stays input_required until the last",
      source: "ext-tasks, Task Update Requests",
      where: "everywhere"
    },
    {
      id: "F5",
      level: "MUST NOT",
      text: "Nothing is asked that the client did not declare: elicitation by form or url, sampling, roots",
      source: "mrtr; elicitation",
      where: "everywhere"
    },
    {
      id: "F6",
      level: "MUST",
      text:
        "Only elicitation/create, sampling/createMessage and roots/list are asked; an input_required result has " +
        "questions or a requestState",
      source: "mrtr",
      where: "everywhere"
    },
    {
      id: "F7",
      level: "MUST NOT",
      text: "Only tools/call, prompts/get and resources/read are answered with input_required",
      source: "mrtr",
      where: "everywhere"
    },
    {
      id: "F8",
      level: "MUST",
      text: "A requestState is sealed, bound to caller, expiry and request, and refused when it was tampered with",
      source: "mrtr, Server Requirements",
      where: "everywhere"
    },
    {
      id: "F9",
      level: "SHOULD",
      text: "Malformed inputResponses are an error, missing ones are asked for again, superfluous ones ignored",
      source: "mrtr, Error Handling",
      where: "everywhere"
    },
    {
      id: "F10",
      level: "SHOULD",
      text: "Accepted content is checked against its requestedSchema; decline and cancel always work",
      source: "elicitation",
      where: "everywhere"
    }
  ]
}

/** Cancelling. */
export const cancelling: Section = {
  letter: "G",
  title: "Cancelling",
  duties: [
    {
      id: "G1",
      level: "MUST",
      text: "tasks/cancel is acknowledged with an empty result; an unknown id is an error",
      source: "ext-tasks, Task Cancellation",
      where: "everywhere",
      sep2663: ["sep-2663-cancel-ack-empty-result"]
    },
    {
      id: "G2",
      level: "MUST NOT",
      text: "Neither notifications/cancelled nor closing the connection cancels a task that was answered",
      source: "ext-tasks, Task Cancellation",
      where: "everywhere",
      sep2663: ["sep-2663-cancel-not-via-cancelled-notification"]
    },
    {
      id: "G3",
      level: "must be so",
      text:
        "Cancelling is cooperative: work that ended first stays as it ended, and cancelling what has ended is " +
        "acknowledged",
      source: "ext-tasks, Task Cancellation",
      where: "everywhere"
    },
    {
      id: "G4",
      level: "MUST",
      text: "A cancel may cross an end; notifications/cancelled for what is unknown or over is ignored",
      source: "cancellation",
      where: "everywhere"
    },
    {
      id: "G5",
      level: "MUST NOT",
      text: "The server sends notifications/cancelled only when it tears a subscription down",
      source: "cancellation",
      where: "everywhere"
    },
    {
      id: "G6",
      level: "SHOULD",
      text: "Who sends a request gives it a timeout, with a hard end even when progress is reported",
      source: "cancellation, Timeouts",
      where: "everywhere"
    }
  ]
}
