/**
 * Hands the cases of a suite to vitest.
 *
 * @since 0.1.0
 */
import { describe, it } from "@effect/vitest"
import * as Suite from "../Suite.ts"

/** How long one case may take, in milliseconds of real time: a server is slow on a busy machine. */
const timeout = 60_000

/**
 * How the cases are run.
 *
 * @since 0.1.0
 */
export interface Options<P, Capability extends string> {
  readonly place: P
  readonly lacks: Suite.Lacks<Capability>
  /** Whether time passes only as a case says, or by itself. */
  readonly time: "test" | "real"
}

/**
 * Declares a test for each case; what the backend lacks is shown as skipped, with the reason.
 *
 * @since 0.1.0
 */
export const register = <P, Capability extends string>(
  name: string,
  cases: ReadonlyArray<Suite.Case<P, Capability>>,
  { lacks, place, time }: Options<P, Capability>
): void => {
  describe(name, () => {
    const test = time === "test" ? it.effect : it.live
    for (const each of cases) {
      const reason = Suite.reasonToSkip(each, lacks)
      const title = reason === undefined ? each.title : `${each.title} (${reason})`
      test.skipIf(reason !== undefined)(title, () => each.run(place), timeout)
    }
  })
}
