/**
 * Which scenarios of the official suite run against the fixture server, which do not and why, and what each is
 * expected to say that is not a success. All of it is data: `Verdict` holds a run against it, in both directions.
 *
 * @since 0.1.0
 */

/**
 * A scenario that runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Scenario {
  readonly name: string
  /**
   * The revision whose wire a core scenario speaks. Never given for a scenario of an extension: the suite then runs
   * no check at all and exits with 0.
   */
  readonly specVersion?: string
}

/**
 * A check that is not expected to succeed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Expectation {
  readonly scenario: string
  /** The id of the check. */
  readonly check: string
  readonly status: "FAILURE" | "SKIPPED" | "WARNING"
  readonly why: string
}

/**
 * Scenarios that do not run, and why not.
 *
 * @category models
 * @since 0.1.0
 */
export interface NotRun {
  readonly scenarios: ReadonlyArray<string>
  readonly why: string
}

const revision = "2026-07-28"

const core = (name: string): Scenario => ({ name, specVersion: revision })

/**
 * The ten scenarios of the tasks extension.
 *
 * @category data
 * @since 0.1.0
 */
export const tasks: ReadonlyArray<Scenario> = [
  { name: "tasks-lifecycle" },
  { name: "tasks-capability-negotiation" },
  { name: "tasks-wire-fields" },
  { name: "tasks-request-state-removal" },
  { name: "tasks-mrtr-input" },
  { name: "tasks-request-headers" },
  { name: "tasks-dispatch-and-envelope" },
  { name: "tasks-status-notifications" },
  { name: "tasks-required-task-error" },
  { name: "tasks-mrtr-composition" }
]

/**
 * The core scenarios that need nothing but tools. The last three are not scored by the suite.
 *
 * @category data
 * @since 0.1.0
 */
export const tools: ReadonlyArray<Scenario> = [
  core("server-stateless"),
  core("tools-list"),
  core("tools-call-simple-text"),
  core("tools-call-image"),
  core("tools-call-audio"),
  core("tools-call-embedded-resource"),
  core("tools-call-mixed-content"),
  core("tools-call-error"),
  core("tools-call-with-progress"),
  core("server-sse-multiple-streams"),
  core("dns-rebinding-protection"),
  core("input-required-result-basic-elicitation"),
  core("input-required-result-basic-sampling"),
  core("input-required-result-basic-list-roots"),
  core("input-required-result-request-state"),
  core("input-required-result-multiple-input-requests"),
  core("input-required-result-multi-round"),
  core("input-required-result-missing-input-response"),
  core("input-required-result-result-type"),
  core("input-required-result-tampered-state"),
  core("input-required-result-capability-check"),
  core("input-required-result-ignore-extra-params"),
  core("input-required-result-validate-input"),
  core("json-schema-2020-12"),
  core("http-header-validation"),
  core("http-custom-header-server-validation")
]

/**
 * What is not expected to succeed.
 *
 * @category data
 * @since 0.1.0
 */
export const expectations: ReadonlyArray<Expectation> = [
  {
    scenario: "tasks-status-notifications",
    check: "tasks-status-notifications",
    status: "SKIPPED",
    why: "the suite always skips it, until it has been rewritten for subscriptions/listen"
  },
  {
    scenario: "server-stateless",
    check: "sep-2575-server-sends-prompts-list-changed-on-subscription",
    status: "SKIPPED",
    why: "prompts are not served"
  }
]

/**
 * The scenarios of this revision that do not run.
 *
 * @category data
 * @since 0.1.0
 */
export const notRun: ReadonlyArray<NotRun> = [
  {
    why: "resources are not served",
    scenarios: [
      "resources-list",
      "resources-read-text",
      "resources-read-binary",
      "resources-templates-read",
      "sep-2164-resource-not-found"
    ]
  },
  {
    why: "prompts and completion are not served",
    scenarios: [
      "input-required-result-non-tool-request",
      "prompts-list",
      "prompts-get-simple",
      "prompts-get-with-args",
      "prompts-get-embedded-resource",
      "prompts-get-with-image",
      "completion-complete"
    ]
  },
  {
    why: "it wants prompts and resources beside tools in one scenario",
    scenarios: ["caching", "input-required-result-unsupported-methods"]
  }
]
