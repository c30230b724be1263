/**
 * Instants as ISO 8601 text and back, exactly and for every safe integer of epoch milliseconds.
 *
 * `Date` and `DateTime` stop at the year 275760 and throw beyond it; these two functions are arithmetic only, so that
 * no clock, however wrong, makes a task unreadable. Formatting takes a third of the time of `DateTime.formatIso`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

const dayMs = 86_400_000

const pad = (value: number, width: number): string => String(value).padStart(width, "0")

const two = (value: number): string => value < 10 ? `0${value}` : `${value}`

/** The calendar day of a count of days since 1970-01-01, by eras of 400 years that begin on the first of March. */
const civil = (days: number): string => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const march = Math.floor((5 * dayOfYear + 2) / 153)
  const month = march < 10 ? march + 3 : march - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return `${formatYear(year)}-${two(month)}-${two(dayOfYear - Math.floor((153 * march + 2) / 5) + 1)}`
}

const formatYear = (year: number): string =>
  year >= 0 && year <= 9999 ? pad(year, 4) : `${year < 0 ? "-" : "+"}${pad(Math.abs(year), 6)}`

const daysOf = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

/**
 * Formats an instant in UTC with milliseconds, always: texts of one era then sort as their instants do.
 *
 * @internal
 */
export const format = (instant: number): string => {
  const rest = ((instant % dayMs) + dayMs) % dayMs
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${pad(rest % 1000, 3)}`
  return `${civil((instant - rest) / dayMs)}T${time}Z`
}

const pattern =
  /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):?(\d\d))?$/

/**
 * Reads an ISO 8601 date and time; `undefined` where the text is none, or no safe integer of milliseconds.
 *
 * **Details**
 *
 * Takes what servers in other languages write: any offset, none at all (taken as UTC), any number of fractional
 * digits (cut to milliseconds), and a leap second.
 *
 * @internal
 */
export const parse = (text: string): number | undefined => {
  const found = pattern.exec(text)
  if (found === null) return undefined
  const part = (index: number): number => Number(found[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  if (hour > 23 || minute > 59 || second > 60 || part(9) > 23 || part(10) > 59) return undefined
  const days = daysOf(year, month, day)
  // A day that the calendar does not have comes back as another one.
  if (month < 1 || month > 12 || civil(days) !== `${formatYear(year)}-${two(month)}-${two(day)}`) return undefined
  const fraction = Number((found[7] ?? "").padEnd(3, "0").slice(0, 3))
  const offset = (found[8] === "-" ? -1 : 1) * (part(9) * 60 + part(10)) * 60_000
  const instant = days * dayMs + (hour * 3600 + minute * 60 + second) * 1000 + fraction - offset
  return Number.isSafeInteger(instant) ? instant : undefined
}

/**
 * The schema of the two functions: epoch milliseconds in memory, ISO 8601 on the wire.
 *
 * @internal
 */
export const schema = Schema.String.check(
  Schema.makeFilter((text: string) => parse(text) !== undefined, { expected: "an ISO 8601 date and time" })
).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transform({ decode: (text: string) => parse(text) ?? Number.NaN, encode: format })
  )
)
