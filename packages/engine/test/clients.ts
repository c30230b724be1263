/** Clients as tests want them. */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Logger, Redacted } from "effect"

/** No log, where what would be logged is the point of the test or of another one. */
export const quiet = Logger.layer([])

/** A client that fails at once while it is disconnected. */
export const redis = (url: string) => NodeRedis.layer({ url, disableOfflineQueue: true })

/** A client whose unqualified names are in a schema. */
export const postgres = (url: string, schema: string, options: Partial<PgClient.PgPoolConfig> = {}) =>
  PgClient.layer({
    url: Redacted.make(url),
    maxConnections: 4,
    startupOptions: `-c search_path=${schema}`,
    ...options
  })
