/**
 * The scenarios of the official suite that test a client and are not about authorization, and what each is expected
 * to say that is not a success.
 *
 * @since 0.1.0
 */
import type { Expectation, Scenario } from "./Scenarios.ts"

const scenario = (name: string): Scenario => ({ name, specVersion: "2026-07-28" })

/**
 * The eight scenarios. The last one is not scored by the suite.
 *
 * @category data
 * @since 0.1.0
 */
export const scenarios: ReadonlyArray<Scenario> = [
  scenario("tools_call"),
  scenario("request-metadata"),
  scenario("sep-2322-client-request-state"),
  scenario("http-standard-headers"),
  scenario("http-custom-headers"),
  scenario("http-invalid-tool-headers"),
  scenario("json-schema-ref-no-deref"),
  scenario("json-schema-2020-12-preservation")
]

/**
 * What is not expected to succeed.
 *
 * @category data
 * @since 0.1.0
 */
export const expectations: ReadonlyArray<Expectation> = [
  {
    scenario: "http-standard-headers",
    check: "sep-2243-client-includes-standard-headers",
    status: "SKIPPED",
    why: "this revision has no initialize and no notifications/initialized to send headers with"
  }
]
