/**
 * Everything that can go wrong in the simulated world, by name, and how often it did.
 *
 * @since 0.1.0
 */

/**
 * What can go wrong. The order is that of the report.
 *
 * @since 0.1.0
 */
export const faultNames = [
  "server-crash",
  "server-shutdown",
  "tool-crash",
  "clock-jump-forward",
  "clock-jump-back",
  "clock-drift",
  "client-crash",
  "client-clock-jump",
  "store-fail",
  "store-lose-request",
  "store-lose-reply",
  "store-double",
  "store-slow",
  "store-outage",
  "store-isolation",
  "net-lose-request",
  "net-lose-reply",
  "net-double",
  "net-slow",
  "net-abort",
  "net-cut",
  "net-partition",
  "signal-lose",
  "signal-double",
  "signal-slow",
  "signal-silence",
  "user-late",
  "user-twice",
  "user-wrong",
  "user-unknown",
  "user-declines",
  "user-never",
  "user-cancels",
  "user-cancels-twice",
  "user-gives-up",
  "user-interrupts",
  "user-fails",
  "user-snoops",
  "tool-hangs",
  "tool-stubborn",
  "tool-dies"
] as const

/**
 * The name of something that can go wrong.
 *
 * @since 0.1.0
 */
export type FaultName = (typeof faultNames)[number]

/**
 * How likely it is that something goes wrong with one message, from 0 to 1, until the world calms down.
 *
 * @since 0.1.0
 */
export const rateNames = [
  "store-fail",
  "store-lose-request",
  "store-lose-reply",
  "store-double",
  "store-slow",
  "net-lose-request",
  "net-lose-reply",
  "net-double",
  "net-slow",
  "net-abort",
  "net-cut",
  "signal-lose",
  "signal-double",
  "signal-slow"
] as const satisfies ReadonlyArray<FaultName>

/**
 * The name of something that goes wrong with single messages.
 *
 * @since 0.1.0
 */
export type RateName = (typeof rateNames)[number]

/**
 * How likely each of them is; those that are not named do not happen.
 *
 * @since 0.1.0
 */
export type Rates = Readonly<Partial<Record<RateName, number>>>
