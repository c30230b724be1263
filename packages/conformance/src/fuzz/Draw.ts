/**
 * Chance with a seed: whoever draws from the same seed and number draws the same.
 *
 * @since 0.2.0
 */

const alphabet = [
  "a", "Z", "7", "_", " ", "\t", "\"", "\\", "/", "\u0000", "\u001f", "é", "\u2028", "漢", "🌳"
] as const

/**
 * A sequence of choices.
 *
 * @category models
 * @since 0.2.0
 */
export class Draw {
  private state: number

  constructor(seed: number, number: number) {
    // Neighbouring numbers must not draw alike, so both are mixed well.
    this.state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35)
    for (let round = 0; round < 4; round++) this.next()
  }

  /** The next 32 bits (mulberry32). */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let bits = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return (bits ^ (bits >>> 14)) >>> 0
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() / 0x1_0000_0000 * limit)
  }

  /** Whether something happens that happens in one of so many cases. */
  oneIn(cases: number): boolean {
    return this.below(cases) === 0
  }

  pick<A>(choices: readonly [A, ...ReadonlyArray<A>]): A {
    return choices[this.below(choices.length)] ?? choices[0]
  }

  /** The same elements in another order. */
  shuffle<A>(elements: ReadonlyArray<A>): Array<A> {
    const keyed = elements.map((element) => [this.next(), element] as const)
    return keyed.toSorted(([a], [b]) => a - b).map(([, element]) => element)
  }

  /** Text of at most `length` characters, of which few are plain. */
  text(length: number): string {
    return Array.from({ length: this.below(length + 1) }, () => this.pick(alphabet)).join("")
  }

  /** Where to cut so many bytes: ascending offsets, none for bytes that stay whole. */
  cuts(size: number): ReadonlyArray<number> {
    const count = this.pick([0, 0, 0, 1, 2, 5, 20])
    return Array.from({ length: count }, () => this.below(size + 1)).toSorted((a, b) => a - b)
  }
}
