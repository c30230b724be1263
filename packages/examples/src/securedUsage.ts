/**
 * What the secured example server says when it is up: three tokens, and commands that show what each is good for.
 *
 * @since 0.2.0
 */
import { curl } from "./usage.ts"

/**
 * The tokens to try it with.
 *
 * @category models
 * @since 0.2.0
 */
export interface Tokens {
  readonly ada: string
  readonly bob: string
  readonly reader: string
  readonly expired: string
}

const as = (who: keyof Tokens) => `-i -H "Authorization: Bearer $${who}"`

const taskId = `"taskId":"'"$task"'"`

const call = (url: string, options: string) =>
  curl(`${url} ${options}`, "tools/call", "summarize_report", `"name":"summarize_report","arguments":{"reportId":"q3"}`)

const poll = (url: string, who: keyof Tokens) => curl(`${url} ${as(who)}`, "tasks/get", "$task", taskId)

/**
 * The welcome of a server at `url`.
 *
 * @since 0.2.0
 */
export const securedUsage = (url: string, tokens: Tokens): string =>
  `Serving MCP tasks at ${url}, to whoever has a token

Paste these into another terminal, one after the other:

# 0. Three callers, and a token that is too old
${Object.entries(tokens).map(([name, token]) => `${name}=${token}`).join("\n")}

# 1. Without a token: 401, and where to find out who gives one
${call(url, "-i")}; echo

# 2. Where to find out
curl -sS ${url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")}; echo

# 3. With one that has expired: 401 invalid_token
${call(url, as("expired"))}; echo

# 4. With one that may only read: 403 insufficient_scope
${call(url, as("reader"))}; echo

# 5. Ada creates a task, and polls it
created=$(${call(url, as("ada"))}); echo "$created"
task=\${created#*'"taskId":"'}; task=\${task%%'"'*}
${poll(url, "ada")}; echo

# 6. To Bob it does not exist
${poll(url, "bob")}; echo

Ctrl+C stops the server, and its tasks are gone.`
