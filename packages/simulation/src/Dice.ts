/**
 * Chance that can be repeated: the same seed and the same labels give the same numbers on every machine.
 *
 * Everything in a simulation that could be otherwise is drawn from a stream of its own, named by labels, so that
 * leaving one thing out of a scenario does not change the luck of all others. That is what makes shrinking work.
 *
 * @since 0.1.0
 */

/**
 * A stream of chance.
 *
 * @since 0.1.0
 */
export class Dice {
  private a: number
  private b: number
  private c: number
  private counter = 1
  private readonly seed: number

  constructor(seed: number) {
    this.seed = seed
    this.a = seed | 0
    this.b = 0x9e3779b9 ^ seed
    this.c = 0x243f6a88
    for (let i = 0; i < 12; i++) this.bits()
  }

  /** 32 random bits: the generator sfc32 of PractRand. */
  bits(): number {
    const sum = (this.a + this.b + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = ((this.c << 21) | (this.c >>> 11)) + sum | 0
    return sum >>> 0
  }

  /** From 0 up to, and not including, 1. */
  unit(): number {
    return this.bits() / 0x1_0000_0000
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1))
  }

  /** Whether something of this probability happens. */
  chance(probability: number): boolean {
    return probability > 0 && this.unit() < probability
  }

  /** One of several, each as likely as the others. */
  pick<const A>(items: readonly [A, ...ReadonlyArray<A>]): A {
    return items[this.between(0, items.length - 1)] as A
  }

  /** A stream of its own, which does not depend on how much has been drawn from this one. */
  stream(label: string | number): Dice {
    let hash = this.seed ^ 0x811c9dc5
    for (const char of String(label)) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
    return new Dice(Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d))
  }
}
