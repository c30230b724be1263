/**
 * Explores all histories of the model, breadth first, each state once.
 *
 * @since 0.1.0
 */
import * as client from "./client.ts"
import { type Configuration, initial, key, type Move, type State } from "./Model.ts"
import * as promises from "./promises.ts"
import * as surroundings from "./surroundings.ts"
import * as worker from "./worker.ts"
import { Model } from "./writes.ts"

/**
 * Something that must not be, and the shortest history that leads to it.
 *
 * @since 0.1.0
 */
export interface Counterexample {
  readonly breach: string
  readonly history: ReadonlyArray<string>
}

/**
 * What was explored.
 *
 * @since 0.1.0
 */
export interface Exploration {
  readonly states: number
  readonly transitions: number
  /** How many moves the longest of the shortest histories has. */
  readonly depth: number
  /** How many different records the store held, whichever worker had them. */
  readonly records: number
  readonly counterexample: Counterexample | undefined
}

/** A list of numbers that grows to many millions. */
class Numbers {
  private items = new Int32Array(1 << 16)
  length = 0

  push(item: number): void {
    if (this.length === this.items.length) {
      const larger = new Int32Array(this.items.length * 2)
      larger.set(this.items)
      this.items = larger
    }
    this.items[this.length++] = item
  }

  get(index: number): number {
    return this.items[index] as number
  }
}

/** The graph of states: who leads to whom, and from whom each was reached first. */
class Graph {
  readonly numbers = new Map<string, number>()
  readonly parents = new Numbers()
  readonly labels = new Numbers()
  readonly names: Array<string> = []
  readonly from = new Numbers()
  readonly to = new Numbers()
  private readonly named = new Map<string, number>()

  /** The number of a state, and whether it is new. */
  add(state: State, parent: number, label: string): { readonly number: number; readonly isNew: boolean } {
    const name = key(state)
    const known = this.numbers.get(name)
    if (known !== undefined) return { number: known, isNew: false }
    const number = this.parents.length
    this.numbers.set(name, number)
    this.parents.push(parent)
    this.labels.push(this.label(label))
    return { number, isNew: true }
  }

  /** How a state was reached first. */
  history(number: number): ReadonlyArray<string> {
    const labels: Array<string> = []
    for (let at = number; at > 0; at = this.parents.get(at)) labels.push(this.names[this.labels.get(at)] ?? "")
    return labels.toReversed()
  }

  /** The first state from which none of the given ones can be reached. */
  stuck(isGoal: (number: number) => boolean, isUsed: (edge: number) => boolean): number | undefined {
    const states = this.parents.length
    const reaches = new Uint8Array(states)
    for (let number = 0; number < states; number++) reaches[number] = isGoal(number) ? 1 : 0
    // Edges lead mostly to later states, so that a few rounds from the last to the first are enough.
    let isChanged = true
    while (isChanged) {
      isChanged = false
      for (let edge = this.from.length - 1; edge >= 0; edge--) {
        if (reaches[this.from.get(edge)] === 1 || reaches[this.to.get(edge)] === 0 || !isUsed(edge)) continue
        reaches[this.from.get(edge)] = 1
        isChanged = true
      }
    }
    const found = reaches.indexOf(0)
    return found < 0 ? undefined : found
  }

  private label(text: string): number {
    const known = this.named.get(text)
    if (known !== undefined) return known
    const number = this.names.push(text) - 1
    this.named.set(text, number)
    return number
  }
}

const movesOf = (model: Model, state: State): ReadonlyArray<Move> => [
  ...client.moves(model, state),
  ...model.movers(state).flatMap((index) => worker.moves(model, state, index)),
  ...surroundings.moves(model, state)
]

/** What the search for ends needs of each state and each edge. */
class Ends {
  private readonly over = new Numbers()
  private readonly progress = new Numbers()

  addState(model: Model, state: State): void {
    this.over.push(Number(promises.isOver(model, state)) + 2 * Number(promises.hasEnded(model, state)))
  }

  addEdge({ isProgress }: Move): void {
    this.progress.push(Number(isProgress))
  }

  /** A state that has no end, or none before its deadline though nothing more goes wrong. */
  search(graph: Graph): Counterexample | undefined {
    const never = graph.stuck((number) => (this.over.get(number) & 1) !== 0, () => true)
    if (never !== undefined) return { breach: "no end can be reached", history: graph.history(never) }
    const late = graph.stuck(
      (number) => (this.over.get(number) & 2) !== 0,
      (edge) => this.progress.get(edge) === 1
    )
    return late === undefined
      ? undefined
      : { breach: "only the deadline can end it", history: graph.history(late) }
  }
}

/**
 * Explores the model. Stops at the first breach, of which there is no shorter history.
 *
 * @since 0.1.0
 */
export const explore = (configuration: Configuration): Exploration => {
  const model = new Model(configuration)
  const graph = new Graph()
  const ends = new Ends()
  let edge: Array<readonly [number: number, state: State]> = [[graph.add(initial, -1, "").number, initial]]
  let depth = 0
  ends.addState(model, initial)
  const outcome = (counterexample: Counterexample | undefined): Exploration => ({
    states: graph.parents.length,
    transitions: graph.from.length,
    depth,
    records: model.records.size,
    counterexample
  })
  while (edge.length > 0) {
    const next: typeof edge = []
    for (const [number, state] of edge) {
      for (const move of movesOf(model, state)) {
        const reached = graph.add(move.state, number, move.label)
        if (reached.number === number) continue
        graph.from.push(number)
        graph.to.push(reached.number)
        ends.addEdge(move)
        const [breach] = [...move.breaches, ...reached.isNew ? promises.broken(model, move.state) : []]
        if (breach !== undefined) return outcome({ breach, history: [...graph.history(number), move.label] })
        if (!reached.isNew) continue
        ends.addState(model, move.state)
        next.push([reached.number, move.state])
      }
    }
    if (next.length > 0) depth++
    edge = next
  }
  return outcome(ends.search(graph))
}
