/**
 * One text for every JSON value, whatever the order in which its members came.
 *
 * Guarantee: two values have the same text if and only if JSON says that they are equal.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import { isJsonObject } from "./JsonRpc.ts"

/**
 * Encodes a value with the members of its objects in the order of their names.
 *
 * **When to use**
 *
 * To bind something to a value, or to compare. It is not RFC 8785: numbers and strings are as `JSON.stringify` has
 * them.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(encode).join(",")}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  // Joined as text: an object would move names that look like numbers to the front.
  const members = Object.entries(value)
    .toSorted(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)
    .map(([name, member]) => `${JSON.stringify(name)}:${encode(member)}`)
  return `{${members.join(",")}}`
}
