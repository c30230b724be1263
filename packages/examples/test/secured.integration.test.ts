/** The secured example, run as a reader runs it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { freePort } from "../../engine/test/OwnServer.ts"
import * as Program from "./Program.ts"

const hasCurl = spawnSync("bash", ["-c", "command -v curl"]).status === 0

describe("npm run start:secured", () => {
  it.live("prints commands that show who gets in, and that a task is its owner's alone [I2, K1, K2, K6]", () =>
    Effect.gen(function*() {
      const port = String(yield* Effect.promise(freePort))
      const isUp = /Ctrl\+C/
      const args = [...Program.fromSource("startSecured.ts"), "--port", port]
      const { terminate, welcome } = yield* Program.launch(process.execPath, args, { isUp })
      assert.include(welcome, `http://127.0.0.1:${port}/mcp`)
      const commands = welcome.slice(welcome.indexOf("# 0."), welcome.indexOf("Ctrl+C"))
      assert.include(commands, "Authorization: Bearer $ada")
      if (hasCurl) {
        const { stderr, stdout } = yield* Program.run("bash", [], { input: commands })
        assert.strictEqual(stderr, "")
        const responses = stdout.split(/(?=HTTP\/1\.1)/)
        const [nobody = "", expired = "", reader = "", created = "", hers = "", his = ""] = responses
        assert.match(nobody, /^HTTP\/1\.1 401 .*www-authenticate: Bearer scope="reports:write", resource_metadata=/s)
        assert.match(nobody, /"authorization_servers":\["http:\/\/127\.0\.0\.1:\d+"\]/)
        assert.match(expired, /^HTTP\/1\.1 401 .*error="invalid_token", error_description="The token has expired"/s)
        assert.match(reader, /^HTTP\/1\.1 403 .*error="insufficient_scope".*scope="reports:write"/s)
        assert.match(created, /^HTTP\/1\.1 200 .*"resultType":"task"/s)
        assert.match(hers, /^HTTP\/1\.1 200 .*"status":"(working|input_required)"/s)
        assert.match(his, /^HTTP\/1\.1 200 .*"code":-32602,"message":"Failed to retrieve task: Task not found"/s)
      }
      assert.include([0, 130, 143], yield* terminate)
    }))
})
