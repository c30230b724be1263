/**
 * Checks the rules of the house that no compiler or linter knows, and prints each breach as `file:line rule: what`.
 * Looks at every file git tracks or would track. Exit code 1 when there is a breach.
 */
import { execFileSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { judge } from "./tidy/Rule.ts"
import { rules } from "./tidy/rules.ts"
import { makeSource } from "./tidy/Source.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const isText = (path: string) => /\.(ts|mts|mjs|json|jsonc|md|ya?ml|sh|sql|lua|mmd)$|(^|\/)[^.]+$|^\.ci\//.test(path)

/** A file that git tracks may be deleted here, and a link may lead to a directory. */
const isFile = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true

const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8"
}).split("\0").filter((path) => path !== "" && isText(path) && isFile(path))

const started = performance.now()
const reports = [...new Set(files)].flatMap((path) =>
  judge(makeSource(path, readFileSync(join(root, path), "utf8")), rules)
)

for (const { line, message, path, rule } of reports) console.log(`${path}:${line} ${rule.name}: ${message}`)
for (const rule of new Set(reports.map((it) => it.rule))) console.log(`\n${rule.name}: ${rule.because}`)
const seconds = ((performance.now() - started) / 1000).toFixed(1)
console.log(`tidy: ${files.length} files, ${rules.length} rules, ${reports.length} breaches, ${seconds} s`)
process.exitCode = reports.length === 0 ? 0 : 1
