/**
 * The table of measured servers. To measure another one, write a program that keeps the contract of
 * `servers/child.ts` and the tools of `tools.ts`, and add a row.
 *
 * @since 0.1.0
 */
import { join } from "node:path"

/**
 * Is one measured server: a program beside this file, and the arguments it is started with.
 *
 * `args` is given an empty directory that lasts as long as the run, for a server that keeps its tasks in files.
 */
export interface ServerEntry {
  readonly name: string
  readonly program: string
  readonly args: (directory: string) => ReadonlyArray<string>
}

/** Is the server whose numbers are the floor. */
export const floor = "echo"

/** Is the server that people would otherwise use. */
export const rival = "official"

/** Is every server that can be measured, by the name that `--servers` takes. */
export const servers: ReadonlyArray<ServerEntry> = [
  { name: floor, program: "./servers/echo.ts", args: () => [] },
  { name: rival, program: "./servers/official.ts", args: () => [] },
  { name: "ours-memory", program: "./servers/ours.ts", args: () => ["--store", "memory"] },
  {
    name: "ours-sqlite",
    program: "./servers/ours.ts",
    args: (directory) => ["--store", "sqlite", "--file", join(directory, "tasks.sqlite")]
  },
  {
    name: "ours-sqlite-full",
    program: "./servers/ours.ts",
    args: (directory) => ["--store", "sqlite", "--synchronous", "FULL", "--file", join(directory, "tasks.sqlite")]
  }
]
