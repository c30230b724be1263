/**
 * How many live tasks an owner of a SQLite table has at the most, so that not every create has to count them.
 *
 * To count costs as much as there is to count: 28 us for 500 live tasks, 500 us for 10,000, which was most of a create.
 * A bound is what was counted once, and one more for each create since; tasks that have ended do not lower it. When it
 * reaches the limit, it is time to count again. So a bound is never too low, unless somebody else writes: then, all are
 * forgotten. SQLite says so itself (`PRAGMA data_version`) of every commit by another connection.
 *
 * @since 0.2.0
 */

/** More owners than this are not remembered at a time. */
const maxOwners = 10_000

/**
 * The bounds of one table, as one connection sees it.
 *
 * @since 0.2.0
 */
export class LiveBounds {
  private readonly bounds = new Map<string, number>()
  private version: unknown

  /** What the owner has at the most, in this version of the database; nothing where that has to be counted. */
  readonly get = (owner: string, version: unknown): number | undefined => {
    if (version !== this.version) this.forget()
    this.version = version
    return this.bounds.get(owner)
  }

  readonly set = (owner: string, atMost: number): void => {
    if (this.bounds.size >= maxOwners) this.forget()
    this.bounds.set(owner, atMost)
  }

  /** For when what was counted, or has been created since, may not be so. */
  readonly forget = (): void => this.bounds.clear()
}

const known = new WeakMap<object, Map<string, LiveBounds>>()

/**
 * The bounds that all stores on one connection share, since none of them hears of what another one creates.
 *
 * @since 0.2.0
 */
export const of = (connection: object, table: string): LiveBounds => {
  const tables = known.get(connection) ?? new Map<string, LiveBounds>()
  known.set(connection, tables)
  const bounds = tables.get(table) ?? new LiveBounds()
  tables.set(table, bounds)
  return bounds
}
