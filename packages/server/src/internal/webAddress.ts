/**
 * Addresses that tokens and keys may travel to.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

/**
 * Reads an absolute https address without a fragment, or says what is wrong with it. Plain http is let through to a
 * loopback address only (OAuth 2.1, section 1.5).
 *
 * @since 0.1.0
 */
export const parse = (address: string): Result.Result<URL, string> => {
  const url = URL.parse(address)
  if (url === null) return Result.fail("is not an absolute URL")
  if (url.hash !== "") return Result.fail("must not have a fragment")
  if (url.username !== "" || url.password !== "") return Result.fail("must not hold credentials")
  return url.protocol === "https:" || (url.protocol === "http:" && loopback.has(url.hostname))
    ? Result.succeed(url)
    : Result.fail("must be an https address, or http on a loopback address")
}
