/**
 * What a campaign has shown: from what its clients saw and what was done in the world to what is wrong. Pure.
 *
 * @since 0.2.0
 */
import type { View } from "./Client.ts"
import type { Deed } from "./World.ts"

/**
 * What a client knows of one task whose handle it was given.
 *
 * @category models
 * @since 0.2.0
 */
export interface Seen {
  readonly taskId: string
  readonly tool: string
  /** The answer whose receipt was acknowledged. */
  readonly answered?: string | undefined
  /** Whether it was asked to stop, acknowledged or not. */
  readonly cancelled: boolean
  /** What it was when it had first ended; none when it never did. */
  readonly ended?: View | undefined
  /** What it was at the very end; none when the server knew it no more. */
  readonly last?: View | undefined
}

/**
 * What is wrong with which tasks.
 *
 * @category models
 * @since 0.2.0
 */
export interface Verdict {
  /** Given out, and not known any more. */
  readonly lost: ReadonlyArray<string>
  /** Ended more than once, or ran again though it must not. */
  readonly twice: ReadonlyArray<string>
  /** Live, and nobody brings it to its end. */
  readonly stuck: ReadonlyArray<string>
  /** An answer that was acknowledged and has not reached its handler. */
  readonly unheard: ReadonlyArray<string>
  /** A step that was done again by a later attempt, after it had been recorded. */
  readonly repeated: ReadonlyArray<string>
  /** Ended in a way in which its tool cannot end. */
  readonly wrong: ReadonlyArray<string>
}

const textOf = (view: View | undefined): string => view?.result?.content[0]?.text ?? ""

/** Which attempt recorded each step first, and whether a later one did it again. */
const isRepeated = (deeds: ReadonlyArray<Deed>): boolean => {
  const kept = new Map<string, number>()
  for (const deed of deeds) {
    if (deed._tag === "Kept" && !kept.has(deed.step)) kept.set(deed.step, deed.attempt)
    if (deed._tag === "Begin" && deed.attempt > (kept.get(deed.step) ?? Number.POSITIVE_INFINITY)) return true
  }
  return false
}

const isTwice = ({ ended, last, tool }: Seen, deeds: ReadonlyArray<Deed>): boolean => {
  const ends = deeds.filter((deed) => deed._tag === "Event" && /^(Completed|Failed|Cancelled)$/.test(deed.event))
  const runs = deeds.filter((deed) => deed._tag === "Run")
  return ends.length > 1 ||
    (tool === "once" && runs.length > 1) ||
    (ended !== undefined && last !== undefined && JSON.stringify(ended) !== JSON.stringify(last))
}

/** Whether a task has ended as its tool can end. */
const isRight = ({ cancelled, last, tool }: Seen): boolean => {
  if (last === undefined) return true
  if (last.status === "cancelled") return cancelled
  const failure = last.error?.message ?? ""
  switch (tool) {
    case "work":
      return last.status === "completed" && new Set(textOf(last).split(" ")).size === 3
    case "ask":
    case "long":
      return last.status === "completed"
    case "once":
      return textOf(last) === "once" || failure.includes("must not be run twice")
    default:
      return failure === "The server stopped too often while the tool was running"
  }
}

/**
 * Judges a campaign.
 *
 * @category constructors
 * @since 0.2.0
 */
export const judge = (tasks: ReadonlyArray<Seen>, deeds: ReadonlyArray<Deed>): Verdict => {
  const byTask = new Map<string, Array<Deed>>()
  for (const deed of deeds) {
    const known = byTask.get(deed.taskId)
    if (known === undefined) byTask.set(deed.taskId, [deed])
    else known.push(deed)
  }
  const those = (isSo: (seen: Seen, deeds: ReadonlyArray<Deed>) => boolean): ReadonlyArray<string> =>
    tasks.filter((seen) => isSo(seen, byTask.get(seen.taskId) ?? [])).map(({ taskId }) => taskId)
  return {
    lost: those(({ last }) => last === undefined),
    stuck: those(({ ended, last }) => last !== undefined && ended === undefined),
    twice: those(isTwice),
    unheard: those(({ answered, last }) =>
      answered !== undefined && last?.status === "completed" && textOf(last) !== answered),
    repeated: those((_seen, deeds) => isRepeated(deeds)),
    wrong: those((seen) => seen.ended !== undefined && !isRight(seen))
  }
}
