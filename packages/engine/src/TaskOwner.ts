/**
 * Who a task belongs to: a person at an issuer, never a credential.
 *
 * The same subject with a refreshed token is the same owner; the same subject at another issuer or in another tenant
 * is not. Anonymous callers are one explicit owner of their own, which equals no other.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/**
 * A caller whom somebody has authenticated, or the anonymous one.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskOwner =
  | { readonly _tag: "Anonymous" }
  | {
    readonly _tag: "Principal"
    readonly issuer: string
    readonly subject: string
    readonly tenant: string | undefined
  }

/**
 * The owner of everything that callers without an identity create.
 *
 * @category constructors
 * @since 0.1.0
 */
export const anonymous: TaskOwner = { _tag: "Anonymous" }

/**
 * Makes the owner that an issuer calls `subject`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const principal = (options: {
  readonly issuer: string
  readonly subject: string
  readonly tenant?: string | undefined
}): TaskOwner => ({ _tag: "Principal", issuer: options.issuer, subject: options.subject, tenant: options.tenant })

/**
 * The text that stands for an owner in a store: equal if and only if the owners are.
 *
 * @category accessors
 * @since 0.1.0
 */
export const key = (owner: TaskOwner): string =>
  owner._tag === "Anonymous" ? "anonymous" : JSON.stringify([owner.issuer, owner.subject, owner.tenant ?? null])

/**
 * The owner on whose behalf the current request is served.
 *
 * **When to use**
 *
 * Provide it for each request from what authentication found, or once with `layerAnonymous` for a server that
 * everyone who can reach it may use. There is no default: nobody becomes anonymous by omission.
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentOwner extends Context.Service<CurrentOwner, TaskOwner>()(
  "@effect-mcp-tasks/engine/TaskOwner/CurrentOwner"
) {}

/**
 * Serves every caller as the anonymous owner.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerAnonymous: Layer.Layer<CurrentOwner> = Layer.succeed(CurrentOwner, anonymous)
