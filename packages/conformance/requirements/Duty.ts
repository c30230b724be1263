/**
 * What a duty is: one thing that the protocol asks of us, as data that tests cite and a document is made of.
 *
 * @since 0.1.0
 */

/** How strongly the specification asks; `must be so` where it states a fact without a keyword. */
export type Level = "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "MAY" | "must be so"

/** Where a duty applies: on every transport, or by its nature on one. */
export type Where = "everywhere" | "http" | "stdio"

/** One thing that the protocol asks of us. */
export interface Duty {
  /** A letter for the section, and a number. Tests cite it in brackets in their title. */
  readonly id: string
  readonly level: Level
  /** In our own words; several clauses where one breach would break them all. */
  readonly text: string
  /** Document and section, by the names in {@link sources}. */
  readonly source: string
  readonly where: Where
  /** Checks of the official list for SEP-2663 that ask for the same. */
  readonly sep2663?: ReadonlyArray<string>
  /** What part of it still waits, and for what: such a duty need not have a test yet. */
  readonly pending?: string
  /** Why no test of ours can prove it. */
  readonly unprovable?: string
}

/** The duties of one part of the protocol. */
export interface Section {
  readonly letter: string
  readonly title: string
  readonly duties: ReadonlyArray<Duty>
}

const core = "https://modelcontextprotocol.io/specification/2026-07-28"

/** The documents that duties come from, by the short names that `source` begins with. */
export const sources: ReadonlyMap<string, string> = new Map([
  ["streamable-http", `${core}/basic/transports/streamable-http`],
  ["stdio", `${core}/basic/transports/stdio`],
  ["transports", `${core}/basic/transports`],
  ["basic", `${core}/basic`],
  ["versioning", `${core}/basic/versioning`],
  ["authorization", `${core}/basic/authorization`],
  ["mrtr", `${core}/basic/patterns/mrtr`],
  ["subscriptions", `${core}/basic/patterns/subscriptions`],
  ["cancellation", `${core}/basic/patterns/cancellation`],
  ["progress", `${core}/basic/patterns/progress`],
  ["discover", `${core}/server/discover`],
  ["caching", `${core}/server/utilities/caching`],
  ["logging", `${core}/server/utilities/logging`],
  ["tools", `${core}/server/tools`],
  ["elicitation", `${core}/client/elicitation`],
  ["changelog", `${core}/changelog`],
  ["ext-tasks", "https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md"],
  ["sep-2663", "https://modelcontextprotocol.io/seps/2663-tasks-extension"]
])
