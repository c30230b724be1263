/**
 * Binds parameters so that a value is stored exactly, or refused: never silently changed.
 *
 * `node:sqlite` on its own stores NaN and a leading `Date` as NULL and lone surrogates as U+FFFD.
 */
import type { SQLInputValue } from "node:sqlite"

const refuse = (index: number, problem: string): never => {
  // Thrown, like the driver's own binding errors, and caught with them where the statement runs.
  throw new TypeError(`Parameter ${index + 1} ${problem}`)
}

const className = (value: object): string => {
  const name: unknown = value.constructor?.name
  return typeof name === "string" && name !== "" ? name : "Object"
}

const bindObject = (value: object, index: number): SQLInputValue =>
  value instanceof Uint8Array
    ? value
    : ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : refuse(index, `is a ${className(value)}, which SQLite cannot hold: encode it as text, a number or a Uint8Array`)

const bind = (value: unknown, index: number): SQLInputValue => {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : refuse(index, "holds a lone surrogate, which UTF-8 cannot carry")
    case "number":
      return Number.isNaN(value) ? refuse(index, "is NaN, which SQLite would store as NULL") : value
    case "bigint":
      return BigInt.asIntN(64, value) === value ? value : refuse(index, "does not fit a 64-bit signed integer")
    case "boolean":
      return value ? 1 : 0
    case "undefined":
      return null
    case "object":
      return value === null ? null : bindObject(value, index)
    default:
      return refuse(index, `is a ${typeof value}, which SQLite cannot hold`)
  }
}

/** Converts parameters for `node:sqlite`; throws a `TypeError` that names the position of one it cannot hold. */
export const bindAll = (params: ReadonlyArray<unknown>): Array<SQLInputValue> => params.map(bind)
