// `npm run example:promise`: the client of promises, in plain JavaScript on plain Node. It calls a long tool of the
// server that `npm start` serves, follows it, and answers its question.
//
//   node packages/examples/src/withoutEffect.mjs [url]
import { createTaskClient, TaskError } from "@effect-mcp-tasks/client/promise"

const client = createTaskClient({ url: process.argv[2] ?? "http://127.0.0.1:3334/mcp" })

try {
  const task = await client.start("export_report", { rows: 48_210 }, {
    signal: AbortSignal.timeout(60_000),
    onInput: ({ params }) => {
      console.log(`Asked: ${params.message} Yes.`)
      return { action: "accept", content: { overwrite: true } }
    }
  })
  for await (const { status, statusMessage = "" } of task) console.log(status.padEnd(14), statusMessage)
  const { content } = await task.result()
  console.log(content[0].text)
} catch (error) {
  if (!(error instanceof TaskError)) throw error
  console.error(`${error.name}: ${error.message}`)
  process.exitCode = 1
} finally {
  await client.close()
}
