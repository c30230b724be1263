/**
 * Whether a person is there: to read the status as it changes, and to be asked.
 *
 * @since 0.2.0
 */
import * as Context from "effect/Context"

/**
 * Which of the standard streams are a terminal.
 *
 * @category references
 * @since 0.2.0
 */
export const Terminal: Context.Reference<{ readonly canAsk: boolean; readonly canRedraw: boolean }> = Context
  .Reference<{ readonly canAsk: boolean; readonly canRedraw: boolean }>("effect-mcp-tasks/cli/Terminal", {
    defaultValue: () => ({
      canAsk: process.stdin.isTTY === true && process.stdout.isTTY === true,
      canRedraw: process.stderr.isTTY === true
    })
  })
