/** Runners that leave no handler alone for long, or let those that wait keep others from running. */
import { type Duration, Effect, Semaphore } from "effect"
import { type BrokenRunner, handlers } from "./BrokenRunners.ts"

const hours = "leaves a handler alone that works for hours, and one that waits for its user overnight"

/** Handlers that are cut off after a while, as a queue of jobs does or a function in the cloud. */
const cutOffAfter = (duration: Duration.Input) =>
  handlers((run) => Effect.timeoutOrElse(run, { duration, orElse: () => Effect.interrupt }))

/** As many handlers at a time as there are slots, whether they work or wait. */
const slots = (count: number) => {
  const taken = Semaphore.makeUnsafe(count)
  return handlers((run) => taken.withPermits(1)(run))
}

/** Handlers that are run again where they have not ended in time, as jobs are that nobody acknowledges. */
const againAfter = (limit: Duration.Input) =>
  handlers((run) => Effect.raceFirst(run, Effect.andThen(Effect.sleep(limit), run)))

export const all: ReadonlyArray<BrokenRunner> = [
  { name: "a handler is cut off after five minutes", fleet: cutOffAfter("5 minutes"), noticedBy: [hours] },
  { name: "a handler is cut off after twelve hours", fleet: cutOffAfter("12 hours"), noticedBy: [hours] },
  { name: "a handler is run again after an hour", fleet: againAfter("1 hour"), noticedBy: [hours] },
  {
    name: "a handler is cut off after two seconds",
    fleet: cutOffAfter("2 seconds"),
    noticedBy: ["leaves a handler alone that works for longer than a dead worker is waited for", hours]
  },
  {
    name: "a handler keeps its slot while it waits, of eight",
    fleet: slots(8),
    noticedBy: ["runs what is called though a hundred handlers wait for their users"]
  },
  {
    name: "a handler keeps its slot while it waits, of a hundred",
    fleet: slots(100),
    noticedBy: ["runs what is called though a hundred handlers wait for their users"]
  }
]
