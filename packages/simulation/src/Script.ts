/**
 * What a simulated tool does, as a line of text that a client sends as its argument: `step a 100; ask q; end ok`.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

/**
 * One thing that a tool does. Times are in milliseconds of the tool's process.
 *
 * @since 0.1.0
 */
export type Op =
  /** Does something that takes time, once. */
  | { readonly op: "step"; readonly name: string; readonly ms: number }
  /** Does one step twice at once: only one of the two can be remembered. */
  | { readonly op: "steps"; readonly name: string }
  /** Takes one step again and again: it is done once. */
  | { readonly op: "again"; readonly name: string }
  | { readonly op: "sleep"; readonly ms: number }
  /** Goes on for a time whatever anybody wishes. */
  | { readonly op: "stubborn"; readonly ms: number }
  | { readonly op: "report"; readonly name: string }
  | { readonly op: "ask"; readonly name: string }
  /** Asks something else under a key. */
  | { readonly op: "reask"; readonly name: string }
  /** Asks under two keys at once. */
  | { readonly op: "asks"; readonly name: string; readonly also: string }
  /** Asks for a time, then withdraws the question. */
  | { readonly op: "askfor"; readonly name: string; readonly ms: number }
  /** Asks for a time, and under the same key again while that is being given up. */
  | { readonly op: "overlap"; readonly name: string; readonly ms: number }
  /** Asks, and goes on without waiting: the question goes with the handler, or outlives it. */
  | { readonly op: "leave" | "detach"; readonly name: string }
  | { readonly op: "extend"; readonly ms: number }
  | { readonly op: "hang" }
  /** Takes its process with it. */
  | { readonly op: "crash" }
  | { readonly op: "end"; readonly name: Ending }

/**
 * How a tool ends.
 *
 * @since 0.1.0
 */
export type Ending = "ok" | "error" | "protocol" | "die" | "interrupt"

const endings: ReadonlyArray<string> = ["ok", "error", "protocol", "die", "interrupt"] satisfies ReadonlyArray<Ending>

/** The words that follow each operation: a name, a second name, a number. */
const shapes: { readonly [Name in Op["op"]]: ReadonlyArray<"name" | "also" | "ms"> } = {
  step: ["name", "ms"],
  steps: ["name"],
  again: ["name"],
  sleep: ["ms"],
  stubborn: ["ms"],
  report: ["name"],
  ask: ["name"],
  reask: ["name"],
  asks: ["name", "also"],
  askfor: ["name", "ms"],
  overlap: ["name", "ms"],
  leave: ["name"],
  detach: ["name"],
  extend: ["ms"],
  hang: [],
  crash: [],
  end: ["name"]
}

const isOp = (name: string): name is Op["op"] => Object.hasOwn(shapes, name)

const parseOp = (text: string): Result.Result<Op, string> => {
  const [name = "", ...words] = text.trim().split(/\s+/)
  if (!isOp(name)) return Result.fail(`"${name}" is nothing that a tool can do`)
  const shape = shapes[name]
  if (words.length !== shape.length) return Result.fail(`"${name}" is followed by ${shape.length} words: ${text}`)
  const fields = shape.map((field, index) => [field, field === "ms" ? Number(words[index]) : words[index]] as const)
  if (fields.some(([, value]) => Number.isNaN(value))) return Result.fail(`a number is missing: ${text}`)
  if (name === "end" && !endings.includes(words[0] ?? "")) return Result.fail(`no such end: ${text}`)
  return Result.succeed({ op: name, ...Object.fromEntries(fields) } as unknown as Op)
}

/**
 * Reads a script, or says what is wrong with it.
 *
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<ReadonlyArray<Op>, string> =>
  Result.all(text.split(";").filter((part) => part.trim() !== "").map(parseOp))

/**
 * Writes one operation.
 *
 * @since 0.1.0
 */
export const print = (op: Op): string => {
  const fields: Readonly<Record<string, unknown>> = { ...op }
  return [op.op, ...shapes[op.op].map((field) => String(fields[field]))].join(" ")
}
