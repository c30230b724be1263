/**
 * What may go wrong with one call to a store or one signal, as data.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"

/**
 * What goes wrong with one call.
 *
 * **Details**
 *
 * - `None`: nothing; for letting calls pass before the one that is meant.
 * - `Fail`: it is not done, and the caller learns that it failed.
 * - `LoseReply`: it is done, and the caller learns that it failed.
 * - `Delay`: it is done later.
 * - `Duplicate`: it is done twice, and the caller learns of the second time.
 * - `Reorder`: it is done after the next one.
 * - `Drop`: it is neither done nor answered.
 * - `Crash`: the process dies before or after it; nothing that this process asks for is done any more, or answered.
 *
 * @category models
 * @since 0.1.0
 */
export type Fault =
  | { readonly _tag: "None" }
  | { readonly _tag: "Fail" }
  | { readonly _tag: "LoseReply" }
  | { readonly _tag: "Delay"; readonly by: Duration.Input }
  | { readonly _tag: "Duplicate" }
  | { readonly _tag: "Reorder" }
  | { readonly _tag: "Drop" }
  | { readonly _tag: "Crash"; readonly when: "before" | "after" }

/**
 * What may go wrong with a signal: publishing one cannot fail, and nobody waits for a reply.
 *
 * @category models
 * @since 0.1.0
 */
export type SignalFault = Extract<Fault, { readonly _tag: "None" | "Delay" | "Duplicate" | "Reorder" | "Drop" }>

/**
 * Nothing goes wrong.
 *
 * @category constructors
 * @since 0.1.0
 */
export const none = { _tag: "None" } as const

/**
 * It is not done, and fails.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = { _tag: "Fail" } as const

/**
 * It is done, and fails.
 *
 * @category constructors
 * @since 0.1.0
 */
export const loseReply = { _tag: "LoseReply" } as const

/**
 * It is done after some time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const delay = (by: Duration.Input) => ({ _tag: "Delay", by } as const)

/**
 * It is done twice.
 *
 * @category constructors
 * @since 0.1.0
 */
export const duplicate = { _tag: "Duplicate" } as const

/**
 * It is done after the next one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reorder = { _tag: "Reorder" } as const

/**
 * It is neither done nor answered.
 *
 * @category constructors
 * @since 0.1.0
 */
export const drop = { _tag: "Drop" } as const

/**
 * The process dies before it is done.
 *
 * @category constructors
 * @since 0.1.0
 */
export const crashBefore = { _tag: "Crash", when: "before" } as const

/**
 * The process dies after it was done.
 *
 * @category constructors
 * @since 0.1.0
 */
export const crashAfter = { _tag: "Crash", when: "after" } as const
