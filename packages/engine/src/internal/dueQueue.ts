/**
 * What is due first: a binary heap of deadlines in which every entry knows its place, so that it holds exactly one
 * entry for each task that has a deadline, however often deadlines move and tasks go.
 *
 * @since 0.1.0
 */

interface Entry {
  readonly taskId: string
  dueAt: number
  index: number
}

/**
 * Deadlines of tasks, the earliest first.
 *
 * @since 0.1.0
 */
export class DueQueue {
  private readonly heap: Array<Entry> = []
  private readonly entries = new Map<string, Entry>()

  /** How many tasks have a deadline. */
  get size(): number {
    return this.heap.length
  }

  /** Sets, moves or (with `null`) takes away the deadline of a task. */
  readonly set = (taskId: string, dueAt: number | null): void => {
    const entry = this.entries.get(taskId)
    if (dueAt === null) {
      if (entry !== undefined) this.take(entry)
      this.entries.delete(taskId)
    } else if (entry === undefined) {
      const added = { taskId, dueAt, index: this.heap.length }
      this.entries.set(taskId, added)
      this.rise(added)
    } else if (entry.dueAt !== dueAt) {
      entry.dueAt = dueAt
      this.rise(entry)
      this.sink(entry)
    }
  }

  /** At most `limit` tasks that are due at `now`, the longest overdue first. They stay in the queue. */
  readonly due = (now: number, limit: number): ReadonlyArray<string> => {
    const found: Array<Entry> = []
    while (found.length < limit) {
      const first = this.heap[0]
      if (first === undefined || first.dueAt > now) break
      this.take(first)
      found.push(first)
    }
    for (const entry of found) {
      entry.index = this.heap.length
      this.rise(entry)
    }
    return found.map(({ taskId }) => taskId)
  }

  private take(entry: Entry): void {
    const last = this.heap.pop()
    if (last === undefined || last === entry) return
    last.index = entry.index
    this.rise(last)
    this.sink(last)
  }

  private place(entry: Entry, index: number): void {
    this.heap[index] = entry
    entry.index = index
  }

  private rise(entry: Entry): void {
    let { index } = entry
    while (index > 0) {
      const parent = this.heap[(index - 1) >> 1]
      if (parent === undefined || parent.dueAt <= entry.dueAt) break
      const above = parent.index
      this.place(parent, index)
      index = above
    }
    this.place(entry, index)
  }

  private sink(entry: Entry): void {
    let { index } = entry
    for (let child = this.earlierChild(index); child !== undefined; child = this.earlierChild(index)) {
      if (child.dueAt >= entry.dueAt) break
      const below = child.index
      this.place(child, index)
      index = below
    }
    this.place(entry, index)
  }

  private earlierChild(index: number): Entry | undefined {
    const left = this.heap[2 * index + 1]
    const right = this.heap[2 * index + 2]
    return left === undefined || right === undefined || left.dueAt <= right.dueAt ? left : right
  }
}
