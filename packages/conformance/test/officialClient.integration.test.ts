import { afterAll, beforeAll } from "@effect/vitest"
import { Effect, ManagedRuntime } from "effect"
import { fileURLToPath } from "node:url"
import * as FixtureServer from "../src/official/FixtureServer.ts"
import { officialClientSuite } from "./officialClientSuite.ts"

const program = fileURLToPath(new URL("../src/serve.ts", import.meta.url))
const runtime = ManagedRuntime.make(FixtureServer.layer(program))
let url = ""

beforeAll(() =>
  runtime.runPromise(Effect.map(FixtureServer.FixtureServer, (server) => {
    url = server.url
  })))

afterAll(() => runtime.dispose())

officialClientSuite(() => url)
