/**
 * The facts that the rules check the repository against: which package may import which, what core may use of
 * Effect, and where the outside world is allowed in. To allow something, change it here and say why.
 */

/** What the sources of a package may import besides their own files. */
export interface Arrows {
  /** Packages of this repository, by their short name. `"any"` is for those that nothing depends on. */
  readonly packages: ReadonlyArray<string> | "any"
  /** Builtin modules of Node. */
  readonly node: ReadonlyArray<string> | "any"
  /** Modules of `effect`, where not all are allowed. */
  readonly effect?: ReadonlyArray<string>
}

/** The modules of `effect` that hold data and functions only: nothing in them runs, waits, or asks a service. */
const dataModules = [
  "Array", "BigDecimal", "BigInt", "Boolean", "Brand", "ByteSize", "Bytes", "Chunk", "Combiner", "Data", "Duration",
  "Equal", "Equivalence", "Filter", "Formatter", "Function", "HKT", "Hash", "HashMap", "HashSet", "Inspectable",
  "Iterable", "JsonPatch", "JsonPointer", "JsonSchema", "Newtype", "NonEmptyIterable", "Number", "Optic", "Option",
  "Order", "Ordering", "Pipeable", "Predicate", "Record", "Reducer", "RegExp", "Result", "Schema", "SchemaAST",
  "SchemaGetter", "SchemaIssue", "SchemaParser", "SchemaRepresentation", "SchemaTransformation", "StandardSchema",
  "String", "Struct", "Symbol", "Tuple", "Types", "UndefinedOr", "Unify"
]

/** Encodings are functions on text and bytes. */
const encodings = "encoding/"

/** The arrows of the packages. A package that is missing here fails the check, so that adding one is a decision. */
export const arrows: ReadonlyMap<string, Arrows> = new Map([
  ["core", { packages: [], node: [], effect: [...dataModules, encodings] }],
  // A check sum in JavaScript takes six times as long, in every poll: decision 0017.
  ["engine", { packages: ["core"], node: ["node:zlib"] }],
  ["server", { packages: ["core", "engine"], node: [] }],
  ["client", { packages: ["core"], node: [] }],
  ["sqlite", { packages: [], node: ["node:sqlite", "node:fs", "node:path"] }],
  ["testing", { packages: ["core", "engine", "server", "client", "sqlite"], node: [] }],
  ["cli", { packages: ["core", "engine", "server", "client", "sqlite", "examples"], node: "any" }],
  ["simulation", { packages: ["core", "engine", "server", "client", "sqlite", "testing"], node: "any" }],
  ["examples", { packages: "any", node: "any" }],
  ["conformance", { packages: "any", node: "any" }],
  ["benchmarks", { packages: "any", node: "any" }]
])

/** Packages that nothing may import. */
export const leaves: ReadonlyArray<string> = ["cli", "simulation", "examples", "conformance", "benchmarks"]

/** What the tests of every package may import of another package's tests: there is one way to find a server. */
export const sharedTests: ReadonlyArray<string> = ["clients.ts", "OwnServer.ts", "services.ts", "TcpProxy.ts"].map(
  (file) => `packages/engine/test/${file}`
)

/** A path below which some of what the `outside` rule bans is allowed. `"any"` lets all of it in. */
export interface Edge {
  readonly path: string
  readonly allows: ReadonlyArray<string> | "any"
  readonly because: string
}

/** Where the program meets the world. Everything else takes time, chance and output from a service. */
export const edges: ReadonlyArray<Edge> = [
  { path: "packages/client/src/promise.ts", allows: ["async", "Promise"], because: "it is made of promises" },
  { path: "packages/testing/src/internal/realWorld.ts", allows: ["process"], because: "it asks what Node waits for" },
  { path: "packages/examples/src/", allows: "any", because: "programs: they read the environment and print" },
  { path: "packages/conformance/src/", allows: "any", because: "programs: they start processes and print" },
  { path: "packages/benchmarks/src/", allows: "any", because: "programs: they measure real time and print" },
  { path: "packages/simulation/src/bin/", allows: "any", because: "programs: they start threads and print" }
]

/** Packages whose sources are programs: they may use a library's barrel, as the reader of an example would. */
export const programs: ReadonlyArray<string> = ["examples", "conformance", "benchmarks"]
