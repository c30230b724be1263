/**
 * What the example server says when it is up: where it is, what it offers, and commands to paste into a shell.
 *
 * Every command stands alone but for the task id, which the creating ones leave in `$task`. They need bash or zsh, and
 * curl.
 *
 * @since 0.1.0
 */
import { MetaKey, ProtocolVersion, TasksExtension } from "@effect-mcp-tasks/core/McpProtocol"

const capabilities = JSON.stringify({ elicitation: { form: {} }, extensions: { [TasksExtension]: {} } })

const meta = `"_meta":{"${MetaKey.protocolVersion}":"${ProtocolVersion}",
    "${MetaKey.clientCapabilities}":${capabilities}}`

/**
 * A request as a shell command. `params` is inside single quotes, so `'"$x"'` leaves them for the value of `x`.
 *
 * @since 0.1.0
 */
export const curl = (url: string, method: string, name: string, params: string): string => `curl -sS ${url} \\
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
  -H 'MCP-Protocol-Version: ${ProtocolVersion}' -H 'Mcp-Method: ${method}' -H "Mcp-Name: ${name}" \\
  -d '{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},
    ${meta}}}'`

const taskId = `"taskId":"'"$task"'"`

const create = (url: string, tool: string, args: object): string =>
  `created=$(${curl(url, "tools/call", tool, `"name":"${tool}","arguments":${JSON.stringify(args)}`)}); echo "$created"
task=\${created#*'"taskId":"'}; task=\${task%%'"'*}`

const poll = (url: string): string => `while true; do
polled=$(${curl(url, "tasks/get", "$task", taskId)}); echo "$polled"
case $polled in *'"status":"working"'*) sleep 0.5 ;; *) break ;; esac
done`

const answer = (url: string, key: string, content: object): string =>
  `${curl(
    url,
    "tasks/update",
    "$task",
    `${taskId},"inputResponses":{"${key}":${JSON.stringify({ action: "accept", content })}}`
  )}; echo`

const inMemory = ":memory:"

/**
 * The welcome of a server at `url` that keeps its tasks in `file`, which may be `:memory:`.
 *
 * @since 0.1.0
 */
export const usage = (url: string, file: string): string =>
  `Serving MCP tasks at ${url}, kept in ${file === inMemory ? "memory" : file} (process ${process.pid})

  export_report {rows}                        queries, asks, writes; only for clients that declare the extension
  summarize_report {reportId, simulateFail?}  reads, asks, summarizes; runs inline for clients that do not

Paste these into another terminal, one after the other:

# 1. Create a task: the answer is its id, at once
${create(url, "export_report", { rows: 42 })}

# 2. Poll it, until it asks or has ended
${poll(url)}

# 3. Answer its question, then poll it again (2)
${answer(url, "confirm-overwrite", { overwrite: true })}

# The other tool: create, poll (2), answer, poll (2)
${create(url, "summarize_report", { reportId: "q3" })}

${answer(url, "redaction_level", { redaction_level: "partial" })}

Ctrl+C stops the server. ${
  file === inMemory
    ? "Its tasks end with it."
    : "Its tasks stay in the file, and go on when it starts again."
}`
