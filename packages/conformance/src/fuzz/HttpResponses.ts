/**
 * HTTP/1.1 responses out of the bytes of a socket, strictly: what is not exactly a response is a fault.
 *
 * @since 0.2.0
 */

/**
 * One response.
 *
 * @category models
 * @since 0.2.0
 */
export interface HttpResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** How many bytes it took. */
  readonly size: number
}

/**
 * What a socket has given so far: a response, not yet one, or what is wrong.
 *
 * @category models
 * @since 0.2.0
 */
export type Parsed = HttpResponse | "incomplete" | { readonly fault: string }

const utf8 = new TextDecoder("utf-8", { fatal: true })

/**
 * Parses the first response in the bytes. `isClosed` tells that no more will come.
 *
 * @category decoding
 * @since 0.2.0
 */
export const parse = (bytes: Buffer, isClosed: boolean): Parsed => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end === -1) return isClosed ? { fault: "closed within a head" } : "incomplete"
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n")
  const [, digits] = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/.exec(first) ?? []
  if (digits === undefined) return { fault: `no status line: ${first.slice(0, 100)}` }
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = "", value = ""] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?(.*)$/.exec(line) ?? []
    if (name === "" || headers.has(name.toLowerCase())) return { fault: `a bad header line: ${line.slice(0, 100)}` }
    headers.set(name.toLowerCase(), value)
  }
  const status = Number(digits)
  const start = end + 4
  // An interim response precedes the one that counts.
  if (status < 200) return skipped(parse(bytes.subarray(start), isClosed), start)
  const body = bodyOf(bytes.subarray(start), status, headers, isClosed)
  return "bytes" in body ? decoded({ status, headers, size: start + body.size }, body.bytes) : body.not
}

const skipped = (parsed: Parsed, size: number): Parsed =>
  typeof parsed === "object" && "status" in parsed ? { ...parsed, size: parsed.size + size } : parsed

const decoded = (head: Omit<HttpResponse, "body">, bytes: Buffer): Parsed => {
  try {
    return { ...head, body: utf8.decode(bytes) }
  } catch {
    return { fault: "a body that is not UTF-8" }
  }
}

type Body = { readonly bytes: Buffer; readonly size: number } | { readonly not: Exclude<Parsed, HttpResponse> }

const unfinished = (isClosed: boolean): Body => ({ not: isClosed ? { fault: "closed within a body" } : "incomplete" })

const bodyOf = (bytes: Buffer, status: number, headers: ReadonlyMap<string, string>, isClosed: boolean): Body => {
  if (headers.get("transfer-encoding") === "chunked") return chunksOf(bytes, isClosed)
  const length = headers.get("content-length")
  if (length === undefined) {
    if (status === 204 || status === 304) return { bytes: Buffer.alloc(0), size: 0 }
    return isClosed ? { bytes, size: bytes.length } : { not: "incomplete" }
  }
  const size = Number(length)
  if (!/^\d+$/.test(length)) return { not: { fault: `the content length ${length}` } }
  return bytes.length < size ? unfinished(isClosed) : { bytes: bytes.subarray(0, size), size }
}

const chunksOf = (bytes: Buffer, isClosed: boolean): Body => {
  const chunks: Array<Buffer> = []
  for (let at = 0;;) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd === -1) return unfinished(isClosed)
    const digits = bytes.subarray(at, lineEnd).toString("latin1")
    if (!/^[0-9a-f]+$/i.test(digits)) return { not: { fault: `the chunk size ${digits.slice(0, 20)}` } }
    const size = Number.parseInt(digits, 16)
    const next = lineEnd + 2 + size
    if (bytes.length < next + 2) return unfinished(isClosed)
    const after = bytes.subarray(next, next + 2).toString("latin1")
    if (after !== "\r\n") return { not: { fault: "a chunk without an end" } }
    if (size === 0) return { bytes: Buffer.concat(chunks), size: next + 2 }
    chunks.push(bytes.subarray(lineEnd + 2, next))
    at = next + 2
  }
}
