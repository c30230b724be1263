/**
 * One-line breaks of what replicas are promised: claims, leases, slots, a time of grace.
 *
 * @since 0.1.0
 */
import type { Sabotage } from "./sabotages.ts"

const claims = "engine/src/internal/claims.ts"
const queueRunner = "engine/src/internal/queueRunner.ts"
const running = "engine/src/internal/runningTasks.ts"
const slots = "engine/src/internal/slots.ts"
const workerWatch = "engine/src/internal/workerWatch.ts"

/**
 * The sabotages of replicas.
 *
 * @since 0.1.0
 */
export const replicaSabotages: ReadonlyArray<Sabotage> = [
  {
    name: "claim does not say what it follows",
    rule: "taken-from-living",
    file: claims,
    was: `after, worker: me })`,
    is: `worker: me })`
  },
  {
    name: "claim forgotten when its answer is lost",
    rule: "taken-from-living",
    file: claims,
    was: `claim.after = command.after`,
    is: ``
  },
  {
    name: "lease not renewed",
    rule: "taken-from-living",
    file: queueRunner,
    was: `yield* worker.beat
      const now`,
    is: `yield* Effect.void
      const now`
  },
  {
    name: "others believed to be dead",
    rule: "taken-from-living",
    file: workerWatch,
    was: `this.lookedAt - known.since < this.lease`,
    is: `this.lookedAt - known.since < 0`
  },
  {
    name: "the dead believed to be alive",
    rule: "nobody-responsible",
    file: workerWatch,
    was: `this.lookedAt - known.since < this.lease`,
    is: `this.lookedAt - known.since < Infinity`
  },
  {
    name: "what was never offered not looked for",
    rule: "nobody-responsible",
    file: claims,
    was: `if (!running || worker === undefined) return true`,
    is: `if (!running || worker === undefined) return false`
  },
  {
    name: "slot kept by who waits",
    rule: "nobody-responsible",
    file: running,
    was: `slots.release(parking.seat)
          yield* moved(1)`,
    is: `yield* moved(1)`
  },
  {
    name: "slot kept by who has ended",
    rule: "nobody-responsible",
    file: running,
    was: `slots.leave(parking.seat)
        this.changed`,
    is: `this.changed`
  },
  {
    name: "slot taken again by what an ended handler leaves",
    rule: "nobody-responsible",
    file: running,
    was: `slots.leave(parking.seat)`,
    is: `slots.release(parking.seat)`
  },
  {
    name: "slot not taken again",
    rule: "slots-passed",
    file: running,
    was: `yield* slots.retake(parking.seat)`,
    is: ``
  },
  {
    name: "slots not counted",
    rule: "slots-passed",
    file: slots,
    was: `    if (this.free <= 0) return undefined
`,
    is: ``
  },
  {
    name: "suspects started together",
    rule: "tried-together",
    file: "engine/src/internal/trials.ts",
    was: `if (this.remaining(now) > 0) {`,
    is: `if (this.remaining(now) < 0) {`
  },
  {
    name: "time of grace not given",
    rule: "grace-ignored",
    file: queueRunner,
    was: `yield* running.drain(settings.grace)`,
    is: `yield* running.drain(Duration.zero)`
  }
]
