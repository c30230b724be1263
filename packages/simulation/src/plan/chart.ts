/**
 * A plan over time, as an SVG document: the tasks there are, and the requests in a second. A pure function.
 *
 * It can be read on light and on dark ground, and without colours: every line is named at its end and has a pattern of
 * its own.
 *
 * @since 0.2.0
 */
import { type Course, methods } from "./Ledger.ts"
import type { Plan } from "./Plan.ts"

/** One line of a panel. */
interface Line {
  readonly name: string
  /** Which colour and pattern, by its place among those of the style. */
  readonly look: "first" | "second" | "third"
  readonly course: Course
}

interface Panel {
  readonly title: string
  readonly lines: ReadonlyArray<Line>
}

const width = 760
const height = 236
const left = 56
const right = 128
const top = 34
const bottom = 44
const plotWidth = width - left - right
const plotHeight = height - top - bottom

const style = `
  svg { color-scheme: light dark }
  .ground { fill: #ffffff }
  text { fill: #24292f; font: 12px system-ui, sans-serif }
  .title { font-weight: 600 }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .warm { fill: #8c959f; fill-opacity: 0.14 }
  .line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
  .first { stroke: #0550ae } .second { stroke: #bc4c00; stroke-dasharray: 6 3 }
  .third { stroke: #116329; stroke-dasharray: 2 3 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d }
    .first { stroke: #79c0ff } .second { stroke: #ffa657 } .third { stroke: #7ee787 }
  }`

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

/**
 * Round numbers from 0 to at least `most`, about `count` of them.
 *
 * @since 0.2.0
 */
export const ticks = (most: number, count: number): ReadonlyArray<number> => {
  if (!(most > 0)) return [0, 1]
  const rough = most / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5, 10].find((size) => size * power >= rough * 0.999) ?? 10) * power
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

const units = [
  { name: "hours", ms: 3_600_000 },
  { name: "minutes", ms: 60_000 },
  { name: "seconds", ms: 1_000 }
] as const

const unitFor = (ms: number) => units.find((unit) => ms >= 2 * unit.ms) ?? units[2]

const at = (value: number): string => String(Math.round(value * 10) / 10)

const path = (course: Course, y: (value: number) => number): string =>
  course.map((value, index) => {
    const x = left + plotWidth * (index + 0.5) / course.length
    return `${index === 0 ? "M" : "L"}${at(x)} ${at(y(value))}`
  }).join("")

/** Names at the ends of their lines, moved apart where they would cover each other. */
const labels = (lines: ReadonlyArray<Line>, y: (value: number) => number): ReadonlyArray<string> => {
  let lowest = -Infinity
  return lines
    .map((line) => ({ line, wanted: y(line.course.at(-1) ?? 0) }))
    .toSorted((self, that) => self.wanted - that.wanted)
    .map(({ line: { look, name }, wanted }) => {
      lowest = Math.max(wanted, lowest + 15)
      const from = width - right
      return `<path class="line ${look}" d="M${from + 6} ${at(lowest)}h16"/>` +
        `<text x="${from + 26}" y="${at(lowest + 4)}">${escaped(name)}</text>`
    })
}

const panel = ({ lines, title }: Panel, untilMs: number, fromMs: number): string => {
  const most = Math.max(0, ...lines.flatMap(({ course }) => course))
  const marks = ticks(most, 4)
  const y = (value: number) => top + plotHeight * (1 - value / (marks.at(-1) ?? 1))
  const unit = unitFor(untilMs)
  const x = (ms: number) => left + plotWidth * ms / untilMs
  const times = ticks(untilMs / unit.ms, 8).filter((time) => time * unit.ms <= untilMs * 1.0001)
  return [
    `<text class="title" x="${left}" y="18">${escaped(title)}</text>`,
    ...(fromMs > 0
      ? [`<rect class="warm" x="${left}" y="${top}" width="${at(x(fromMs) - left)}" height="${plotHeight}"/>` +
        `<text x="${left + 6}" y="${top + 16}">not counted</text>`]
      : []),
    ...marks.map((mark) =>
      `<path class="grid" d="M${left} ${at(y(mark))}h${plotWidth}"/>` +
      `<text x="${left - 6}" y="${at(y(mark) + 4)}" text-anchor="end">${mark}</text>`
    ),
    ...times.map((time) =>
      `<text x="${at(x(time * unit.ms))}" y="${height - bottom + 17}" text-anchor="middle">${time}</text>`
    ),
    `<text x="${left + plotWidth / 2}" y="${height - bottom + 34}" text-anchor="middle">time in ${unit.name}</text>`,
    ...lines.map(({ course, look }) => `<path class="line ${look}" d="${path(course, y)}"/>`),
    ...labels(lines, y)
  ].join("\n")
}

/**
 * Draws a plan, and beside it the requests there would be if every client listened, where that was planned too.
 *
 * **Details**
 *
 * Each point is an average over a 240th of the time. What is shaded was not counted.
 *
 * @since 0.2.0
 */
export const draw = ({ ledger }: Plan, listening?: Plan): string => {
  const { fromMs, untilMs } = ledger.span
  const queued = ledger.levelOf("queued").max > 0
  const panels: ReadonlyArray<Panel> = [
    {
      title: "Tasks that have not ended",
      lines: [
        { name: "all live", look: "first", course: ledger.levelCourse("live") },
        { name: "wait for input", look: "second", course: ledger.levelCourse("parked") },
        ...(queued ? [{ name: "wait for a worker", look: "third", course: ledger.levelCourse("queued") } as const] : [])
      ]
    },
    {
      title: "Requests per second",
      lines: [
        { name: "all", look: "first", course: ledger.requestCourse() },
        { name: "tasks/get", look: "second", course: ledger.requestCourse(["tasks/get"]) },
        ...(listening === undefined
          ? []
          : [{ name: "all, if all listen", look: "third", course: listening.ledger.requestCourse(methods) } as const])
      ]
    }
  ]
  const whole = panels.length * height
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" width="${width}" height="${whole}" ` +
    `role="img" aria-label="${escaped(panels.map(({ title }) => title).join(", "))}, over time">`,
    `<style>${style}\n</style>`,
    `<rect class="ground" width="${width}" height="${whole}"/>`,
    ...panels.map((each, index) =>
      `<g transform="translate(0 ${index * height})">\n${panel(each, untilMs, fromMs)}\n</g>`
    ),
    "</svg>",
    ""
  ].join("\n")
}
