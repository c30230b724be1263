/**
 * How duties and tests fit together: what is missing, and the document that shows what is there.
 */
import { type Duty, type Section, sources } from "@effect-mcp-tasks/conformance/requirements/Duty.ts"
import type { Citation } from "./Citations.ts"

/** What is wrong, each in a sentence; nothing when every duty has a test and every cited duty exists. */
export const faults = (
  sections: ReadonlyArray<Section>,
  citations: ReadonlyArray<Citation>
): ReadonlyArray<string> => {
  const duties = sections.flatMap((section) => section.duties)
  const known = new Set(duties.map(({ id }) => id))
  const proven = new Set(citations.flatMap(({ ids }) => ids))
  return [
    ...twice(duties).map((id) => `${id} is given to two duties`),
    ...sections.flatMap(({ duties, letter }) =>
      duties.filter(({ id }) => !new RegExp(`^${letter}\\d+$`).test(id)).map(({ id }) =>
        `${id} is in section ${letter}`
      )
    ),
    ...duties.filter(({ source }) => !sources.has(documentOf(source))).map(({ id, source }) =>
      `${id} comes from "${source}", which names no document`
    ),
    ...citations.flatMap(({ ids, line, path }) =>
      ids.filter((id) => !known.has(id)).map((id) => `${path}:${line} cites ${id}, which is no duty`)
    ),
    ...duties.filter(({ id, pending, unprovable }) =>
      pending === undefined && unprovable === undefined && !proven.has(id)
    ).map(({ id, text }) => `${id} has no test: ${text}`),
    ...duties.filter(({ id, unprovable }) => unprovable !== undefined && proven.has(id)).map(({ id }) =>
      `${id} is called unprovable, and a test cites it`
    )
  ]
}

const twice = (duties: ReadonlyArray<Duty>): ReadonlyArray<string> =>
  duties.map(({ id }) => id).filter((id, index, all) => all.indexOf(id) !== index)

const documentOf = (source: string): string => source.split(/[,;]/)[0] ?? ""

const linked = (source: string): string =>
  source.split("; ").map((part) => {
    const document = documentOf(part)
    const address = sources.get(document)
    return address === undefined ? part : `[${document}](${address})${part.slice(document.length)}`
  }).join("; ")

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ")

const proofs = (duty: Duty, citations: ReadonlyArray<Citation>): string => {
  const byFile = Map.groupBy(citations.filter(({ ids }) => ids.includes(duty.id)), ({ path }) => path)
  const tests = [...byFile].map(([path, found]) => {
    const name = path.replace("/test/", "/").replace("packages/", "")
    return `[${name}](../${path}): ${found.map(({ title }) => cell(title)).join(" · ")}`
  })
  return [
    ...tests,
    ...(duty.pending === undefined ? [] : [`*pending: ${duty.pending}*`]),
    ...(duty.unprovable === undefined ? [] : [`*no test: ${duty.unprovable}*`])
  ].join("<br>")
}

const isOpen = ({ id, pending }: Duty, proven: ReadonlySet<string>) => pending !== undefined && !proven.has(id)

const table = (section: Section, citations: ReadonlyArray<Citation>): string => {
  const rows = section.duties.map((duty) => {
    const { id, level, source, text, where } = duty
    const official = (duty.sep2663 ?? []).map((check) => `<br>\`${check}\``).join("")
    const transport = where === "everywhere" ? "" : ` (${where === "http" ? "HTTP" : "stdio"} only)`
    const cells = [id, level, `${cell(text)}${transport}`, `${linked(source)}${official}`, proofs(duty, citations)]
    return `| ${cells.join(" | ")} |`
  })
  return `## ${section.letter}. ${section.title}\n\n` +
    `| Duty | Level | What it asks | Source | Tests |\n|---|---|---|---|---|\n${rows.join("\n")}\n`
}

/** The document: every duty with where it comes from and the tests that prove it. */
export const document = (sections: ReadonlyArray<Section>, citations: ReadonlyArray<Citation>): string => {
  const duties = sections.flatMap((section) => section.duties)
  const proven = new Set(citations.flatMap(({ ids }) => ids))
  const counts = sections.map(({ duties, letter, title }) => {
    const [tested, open] = [duties.filter(({ id }) => proven.has(id)), duties.filter((duty) => isOpen(duty, proven))]
    return `| ${letter}. ${title} | ${duties.length} | ${tested.length} | ${open.length} |`
  })
  const official = new Set(duties.flatMap(({ sep2663 = [] }) => sep2663))
  const open = duties.filter((duty) => isOpen(duty, proven))
  const total = `| all | ${duties.length} | ${duties.filter(({ id }) => proven.has(id)).length} | ${open.length} |`
  return `# What the protocol asks, and which tests prove it

Every duty of a server of tasks and of a client, in our own words, with the titles of the tests that cite it. A duty of
which a part is *pending* waits for a part of the software; one that has no test yet is counted as open. The
${official.size} checks of the official list for SEP-2663 stand beside the duties that ask for the same.

| Section | Duties | With tests | Open |
|---|---|---|---|
${counts.join("\n")}
${total}

${sections.map((section) => table(section, citations)).join("\n")}`
}
