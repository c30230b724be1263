import { NodeServices } from "@effect/platform-node"
import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import * as ServeProcess from "../src/ServeProcess.ts"
import { officialClientSuite } from "./officialClientSuite.ts"

const scope = Scope.makeUnsafe()
let url = ""

beforeAll(async () => {
  const started = ServeProcess.start({ store: "memory" })
  const server = await Effect.runPromise(started.pipe(Scope.provide(scope), Effect.provide(NodeServices.layer)))
  url = server.url
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

officialClientSuite(() => url)
