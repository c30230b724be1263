/**
 * Equality of JSON values, whatever their keys: total where `Equal.equals` is not.
 *
 * `Equal` asks an object for its own notion of equality by a string key, and JSON from outside can have that key.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"

type Json = Schema.Json | undefined

/**
 * Tells whether two JSON values are the same, in whatever order their members are.
 *
 * @internal
 */
export const jsonEqual = (self: Json, that: Json): boolean => {
  if (self === that) return true
  if (typeof self !== "object" || typeof that !== "object" || self === null || that === null) return false
  if (isArray(self) || isArray(that)) {
    return isArray(self) && isArray(that) && self.length === that.length &&
      self.every((item, index) => jsonEqual(item, that[index]))
  }
  const keys = Object.keys(self)
  return keys.length === Object.keys(that).length &&
    keys.every((key) => Object.hasOwn(that, key) && jsonEqual(self[key], that[key]))
}

/** `Array.isArray` does not know read-only arrays. */
const isArray: (value: Schema.Json) => value is Schema.JsonArray = Array.isArray
