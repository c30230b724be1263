/**
 * Checks that every duty in packages/conformance/requirements.ts has a test that cites it, or says why not, and that
 * no test cites a duty that is not there. Exit code 1 otherwise.
 */
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { sections } from "@effect-mcp-tasks/conformance/requirements.ts"
import * as Citations from "./duties/Citations.ts"
import * as Coverage from "./duties/Coverage.ts"

const citations = Citations.read(dirname(dirname(fileURLToPath(import.meta.url))))
const found = Coverage.faults(sections, citations)
for (const fault of found) console.log(fault)
const duties = sections.reduce((sum, section) => sum + section.duties.length, 0)
console.log(`duties: ${duties} duties, ${citations.length} citations, ${found.length} faults`)
process.exitCode = found.length === 0 ? 0 : 1
