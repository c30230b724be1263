/**
 * What is due first: a binary heap of deadlines. Moving or removing a deadline leaves the old entry behind, to be
 * passed over when its turn comes.
 *
 * @since 0.1.0
 */

interface Entry {
  readonly taskId: string
  readonly dueAt: number
}

/**
 * Deadlines of tasks, the earliest first.
 *
 * @since 0.1.0
 */
export class DueQueue {
  private readonly heap: Array<Entry> = []
  private readonly current = new Map<string, number>()

  /** Sets, moves or (with `null`) takes away the deadline of a task. */
  readonly set = (taskId: string, dueAt: number | null): void => {
    if (dueAt === null) this.current.delete(taskId)
    else if (this.current.get(taskId) !== dueAt) {
      this.current.set(taskId, dueAt)
      this.push({ taskId, dueAt })
    }
  }

  /** At most `limit` tasks that are due at `now`, the longest overdue first. They stay in the queue. */
  readonly due = (now: number, limit: number): ReadonlyArray<string> => {
    const found: Array<Entry> = []
    const seen = new Set<string>()
    while (found.length < limit) {
      const first = this.heap[0]
      if (first === undefined || first.dueAt > now) break
      this.pop()
      if (this.current.get(first.taskId) !== first.dueAt || seen.has(first.taskId)) continue
      seen.add(first.taskId)
      found.push(first)
    }
    for (const entry of found) this.push(entry)
    return found.map(({ taskId }) => taskId)
  }

  private readonly push = (entry: Entry): void => {
    const { heap } = this
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (at(heap, parent).dueAt <= entry.dueAt) break
      heap[index] = at(heap, parent)
      index = parent
    }
    heap[index] = entry
  }

  private readonly pop = (): void => {
    const { heap } = this
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      if (child + 1 < heap.length && at(heap, child + 1).dueAt < at(heap, child).dueAt) child++
      if (at(heap, child).dueAt >= last.dueAt) break
      heap[index] = at(heap, child)
      index = child
    }
    heap[index] = last
  }
}

const at = (heap: ReadonlyArray<Entry>, index: number): Entry => heap[index] as Entry
