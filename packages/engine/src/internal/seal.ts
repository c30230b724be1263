/**
 * A check sum over what a poll answers with, so that damaged text is noticed without parsing it.
 *
 * CRC-32 notices every damage that spans at most 32 bits, and of all others all but one in four thousand million. It is
 * no signature: whoever may write to the store can make a seal that fits. `docs/decisions/0017-sealed-heads.md` says
 * what it costs.
 *
 * @since 0.2.0
 */
import { crc32 } from "node:zlib"

/**
 * What a seal is made of.
 *
 * @since 0.2.0
 */
export interface Sealed {
  readonly taskId: string
  readonly owner: string
  /** JSON text of one object. */
  readonly head: string
  readonly result: string | null
}

/** A sign that JSON cannot end with, and eight hexadecimal digits. */
const length = 9
const mark = "~"

const sum = ({ head, owner, result, taskId }: Sealed): string => {
  // In one text, since a call costs as much as a hundred characters.
  const first = crc32(`${head}\n${owner}\n${taskId}`)
  return (result === null ? first : crc32(result, first)).toString(16).padStart(8, "0")
}

/**
 * Puts the seal behind a head.
 *
 * @since 0.2.0
 */
export const put = (sealed: Sealed): string => `${sealed.head}${mark}${sum(sealed)}`

const parsed = (text: string): Readonly<Record<string, unknown>> => Object(JSON.parse(text))

/**
 * Takes the seal off a head; `undefined` where it does not fit.
 *
 * **Details**
 *
 * A head without a seal is one of before there were any. It is parsed, with its result, to see that both are JSON;
 * throws where they are not.
 *
 * @since 0.2.0
 */
export const open = (sealed: Sealed): string | undefined => {
  const { head, result, taskId } = sealed
  const at = head.length - length
  if (head[at] !== mark) {
    if (result !== null) parsed(result)
    return parsed(head)["taskId"] === taskId ? head : undefined
  }
  const text = head.slice(0, at)
  return sum({ ...sealed, head: text }) === head.slice(at + 1) ? text : undefined
}
