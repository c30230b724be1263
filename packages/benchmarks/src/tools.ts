/**
 * The tools that every measured server offers, under the same names and with the same result sizes.
 *
 * - `quick_job {}`: a task that completes at once with about 200 bytes of text.
 * - `ask_job {}`: a task that asks one elicitation and completes when it is answered.
 * - `slow_job {}`: a task that stays `working` until it is cancelled or the server stops.
 * - `sized_job {bytes}`: a task that completes at once with `bytes` bytes of text.
 *
 * @since 0.1.0
 */

/** Names the tools that a measured server must offer. */
export type ToolName = "quick_job" | "ask_job" | "slow_job" | "sized_job"

/** Is the text with which `quick_job` completes: 200 bytes. */
export const quickText = "The job is done. ".repeat(12).slice(0, 200)

/** Is the text with which `ask_job` completes once it is answered: 200 bytes. */
export const askText = "Thank you for the answer. ".repeat(8).slice(0, 200)

/** Builds the text with which `sized_job` completes: `bytes` bytes of ASCII that JSON need not escape. */
export const sizedText = (bytes: number): string => "0123456789abcdef".repeat(Math.ceil(bytes / 16)).slice(0, bytes)

/** Is the input key under which `ask_job` asks. */
export const askKey = "confirmation"

/** Is the elicitation that `ask_job` sends: one form with one required boolean. */
export const askRequest = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Shall the job go on?",
    requestedSchema: {
      type: "object",
      properties: { confirm: { type: "boolean", description: "Whether to go on" } },
      required: ["confirm"]
    }
  }
} as const

type IntegerSchema = { readonly type: "integer"; readonly minimum: number; readonly maximum: number }

/** Is what `tools/list` says of each tool. */
export const toolList: ReadonlyArray<{
  readonly name: ToolName
  readonly description: string
  readonly inputSchema: { readonly type: "object"; readonly properties?: Record<string, IntegerSchema> }
}> = [
  { name: "quick_job", description: "Completes at once", inputSchema: { type: "object" } },
  { name: "ask_job", description: "Asks one question, then completes", inputSchema: { type: "object" } },
  { name: "slow_job", description: "Works until it is cancelled", inputSchema: { type: "object" } },
  {
    name: "sized_job",
    description: "Completes at once with a text of the given size",
    inputSchema: { type: "object", properties: { bytes: { type: "integer", minimum: 0, maximum: 1_048_576 } } }
  }
]
