/**
 * Bearer tokens on HTTP: read from the `Authorization` header, and asked for by `WWW-Authenticate`.
 *
 * Source: RFC 6750; RFC 9728, section 5.1.
 *
 * @since 0.1.0
 */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import { refusal } from "./httpGuard.ts"

/**
 * What an `Authorization` header holds: nothing that could be a bearer token, one, or one that is malformed.
 *
 * @since 0.1.0
 */
export type Credentials =
  | { readonly _tag: "None" }
  | { readonly _tag: "Malformed" }
  | { readonly _tag: "Token"; readonly token: Redacted.Redacted<string> }

/**
 * Reads the header. Credentials of another scheme are none: they were meant for somebody else.
 *
 * @since 0.1.0
 */
export const read = (authorization: string | undefined): Credentials => {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) return { _tag: "None" }
  const token = /^bearer +([\w\-.~+/]+=*)$/i.exec(authorization)?.[1]
  return token === undefined ? { _tag: "Malformed" } : { _tag: "Token", token: Redacted.make(token) }
}

/**
 * Why a request is not served, and what would help.
 *
 * @since 0.1.0
 */
export interface Challenge {
  readonly status: 400 | 401 | 403
  /** None for a request without credentials (RFC 6750, section 3.1). */
  readonly error?: "invalid_request" | "invalid_token" | "insufficient_scope"
  readonly description: string
  readonly scopes: ReadonlyArray<string>
  readonly metadata: string
}

/**
 * The response that refuses a request and says how to be let in.
 *
 * @since 0.1.0
 */
export const challenge = ({ description, error, metadata, scopes, status }: Challenge) => {
  const said = quotable(description)
  const parameters = [
    ...(error === undefined ? [] : [`error="${error}"`, `error_description="${said}"`]),
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`]),
    `resource_metadata="${metadata}"`
  ]
  return HttpServerResponse.setHeader(refusal(status, said), "www-authenticate", `Bearer ${parameters.join(", ")}`)
}

/** A verifier's words, in the characters that RFC 6750 allows: nothing in them can end the quotes or the line. */
const quotable = (text: string): string => text.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "?").slice(0, 200)
