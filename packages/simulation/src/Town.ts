/**
 * Where clients live: what all of them have in common.
 *
 * @since 0.2.0
 */
import type { Auditor } from "./Auditor.ts"
import type { CallAuditor } from "./CallAuditor.ts"
import type { Dice } from "./Dice.ts"
import type { FaultName } from "./Faults.ts"
import type { Network } from "./Network.ts"
import type { Scenario } from "./Scenario.ts"
import type { Story } from "./Story.ts"
import type { World } from "./World.ts"

/**
 * What clients have in common.
 *
 * @since 0.2.0
 */
export interface Town {
  readonly world: World
  readonly scenario: Scenario
  readonly dice: Dice
  readonly network: Network
  readonly auditor: Auditor
  /** Watches the calls through the client library. */
  readonly calls: CallAuditor
  readonly story: Story
  readonly onFault: (name: FaultName) => void
  /** How many clients still have something to do. */
  readonly clients: { active: number }
}
