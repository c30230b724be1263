/**
 * What an auditor objects to.
 *
 * @since 0.1.0
 */

/**
 * The rules, each with what it means that it is broken. They follow the specification and the promises of the design,
 * and know nothing of how the engine keeps them.
 *
 * @since 0.1.0
 */
export const rules = {
  "create-lost": "a task that was acknowledged to its client is not there",
  "create-denied": "a call was refused whose task is there, and nothing kept its server from seeing it",
  "terminal-left": "a client saw an ended task change",
  "time-reversed": "a client saw lastUpdatedAt go back",
  "stale-read": "a client saw what the task was not while it asked",
  "owner-leak": "one owner saw or changed a task of another",
  "task-undeclared": "a client without the tasks extension had to do with tasks, or was refused without need",
  "asked-undeclared": "a client was asked that does not declare that it can be",
  "answer-lost": "an answer was acknowledged, and the question is still open",
  "answer-invented": "a handler got an answer that nobody gave, or another one than before",
  "answer-late": "a handler waits for an answer that has been there for long",
  "question-kept": "a question stands that its handler has given up",
  "answer-unfit": "an answer was taken that does not fit its question",
  "cancel-lost": "a cancel was acknowledged, and the task knows nothing of it",
  "cancel-invented": "a task was cancelled that no client cancelled",
  "task-left": "a task goes on whose caller went away before it was told of it, though its server could stop it",
  "cancel-ignored": "a handler that could stop runs on for long after its task was cancelled",
  "invariant-broken": "a change of a task breaks an invariant of the machine",
  "machine-bypassed": "a change of a task that no command leads to",
  "two-writers": "a worker wrote to a task whose attempt is another's",
  "taken-from-living": "a worker took a task from one that shows that it is alive",
  "wait-punished": "a task failed for its lost attempts, though the last of them waited for its client",
  "tried-together": "two tasks that were lost twice in a row are tried in one process at a time",
  "grace-ignored": "a handler at work was interrupted before its process had to go",
  "slots-passed": "more handlers are at work in a process than it has slots",
  "started-unclaimed": "a handler runs for an attempt that its process has not claimed, or twice for one attempt",
  "step-repeated": "a step was done again that was remembered before the attempt began",
  "step-differs": "a handler got another value of a step than the one that is remembered",
  "result-forged": "a task completed with another result than its handler's",
  "expired-early": "a task was failed or removed before its time",
  "expired-late": "a client was shown a live task whose time was over",
  "call-repeated": "the client library called a tool twice for one call",
  "polled-early": "the client library asked again before the time that the server had set",
  "asked-after-end": "the client library asked for a task when nobody waited for it any more",
  "answered-twice": "the client library answered a question twice, or had it answered twice by its user",
  "asked-in-vain": "the client library had its user answer a question that it knew to be closed",
  "handle-forgotten": "the client library forgot a task whose end nobody has dealt with",
  "view-reversed": "the client library showed an older view after a newer one",
  "outcome-wrong": "a call through the client library ended otherwise than its task",
  "given-up-early": "the client library gave a call up for failures that passed",
  "cancel-forgotten": "the client library left a task to run whose call was interrupted",
  "cancel-unwanted": "the client library cancelled a task that nobody wanted to stop",
  "call-endless": "a call of a client has not ended long after its task",
  "limit-passed": "an owner has more live tasks than the limit",
  "nobody-responsible": "a live task runs nowhere",
  "never-ended": "a task has not ended long after everything calmed down",
  "defect": "something broke inside the server",
  "restless": "the world does not come to rest"
} as const

/**
 * The name of a rule.
 *
 * @since 0.1.0
 */
export type RuleName = keyof typeof rules

/**
 * A rule that was broken, and how.
 *
 * @since 0.1.0
 */
export interface Violation {
  readonly rule: RuleName
  readonly detail: string
}
