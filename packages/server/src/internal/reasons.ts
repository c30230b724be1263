/**
 * Why something failed, in the words of the error and of those that caused it, on one line.
 *
 * @since 0.2.0
 */

/** More links than an honest chain of causes has. */
const longestChain = 8

/**
 * The messages of an error and of its causes, from the outermost to the first, each once.
 *
 * @since 0.2.0
 */
export const of = (failure: unknown): string => {
  const words: Array<string> = []
  let error: unknown = failure
  for (let link = 0; link < longestChain && error !== undefined && error !== null; link++) {
    const said = messageOf(error).replaceAll(/\s+/g, " ").trim()
    if (said !== "" && !words.some((word) => word.includes(said))) words.push(said)
    error = causeOf(error)
  }
  return words.length === 0 ? String(failure) : words.join(": ")
}

const messageOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return String(error)
  if ("message" in error && typeof error.message === "string" && error.message !== "") return error.message
  return "code" in error && typeof error.code === "string" ? error.code : ""
}

/** Node tries each address of a name, and then fails with all of the failures. */
const causeOf = (error: unknown): unknown => {
  if (typeof error !== "object" || error === null) return undefined
  if (error instanceof AggregateError) return error.errors[0]
  return "cause" in error ? error.cause : undefined
}
