/**
 * From bytes as they arrive to lines: bounded in length, whatever the bytes are cut into.
 *
 * @since 0.1.0
 */

/**
 * A line without its line feed; `undefined` for one that is longer than allowed.
 *
 * @since 0.1.0
 */
export type Line = Uint8Array | undefined

const lineFeed = 0x0a

/**
 * Makes a splitter: each call takes the next bytes and gives the lines that they complete. The end of the input
 * completes what is left without a line feed.
 *
 * **Details**
 *
 * Of a line that is too long nothing is kept, however long it becomes.
 *
 * @since 0.1.0
 */
export const splitter = (maxBytes: number) => {
  let parts: Array<Uint8Array> = []
  let length = 0

  const add = (bytes: Uint8Array): void => {
    length += bytes.length
    if (length > maxBytes) parts = []
    else if (bytes.length > 0) parts.push(bytes)
  }

  const complete = (): Line => {
    const line = length > maxBytes ? undefined : joined(parts, length)
    parts = []
    length = 0
    return line
  }

  return {
    next: (bytes: Uint8Array): ReadonlyArray<Line> => {
      const lines: Array<Line> = []
      let start = 0
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
        add(bytes.subarray(start, end))
        lines.push(complete())
        start = end + 1
      }
      add(bytes.subarray(start))
      return lines
    },
    end: (): ReadonlyArray<Line> => length === 0 ? [] : [complete()]
  }
}

const joined = (parts: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
