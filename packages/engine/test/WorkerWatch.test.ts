import { assert, describe, it } from "@effect/vitest"
import { WorkerWatch } from "../src/internal/workerWatch.ts"

const lease = 900

/** What a watcher sees, look by look: at which instant, and which counts. */
type Looks = ReadonlyArray<readonly [at: number, beats: Readonly<Record<string, number>>]>

const watching = (...looks: Looks): WorkerWatch => {
  const watch = new WorkerWatch(lease)
  for (const [at, beats] of looks) watch.look(new Map(Object.entries(beats)), at)
  return watch
}

const table: ReadonlyArray<readonly [what: string, looks: Looks, alive: ReadonlyArray<string>, dead: Array<string>]> = [
  ["nobody is alive before the first look", [], [], []],
  ["who is on the list is alive at first", [[0, { a: 7, b: 1 }]], ["a", "b"], []],
  ["who counts on stays alive", [[0, { a: 1 }], [400, { a: 2 }], [800, { a: 3 }], [1_200, { a: 4 }]], ["a"], []],
  [
    "who stands still for less than a lease is alive",
    [[0, { a: 1 }], [400, { a: 1 }], [800, { a: 1 }]],
    ["a"],
    []
  ],
  [
    "who stands still for a lease is dead, and the others are not",
    [[0, { a: 1, b: 1 }], [300, { a: 1, b: 2 }], [600, { a: 1, b: 3 }], [900, { a: 1, b: 4 }]],
    ["b"],
    ["a"]
  ],
  [
    "who was believed dead and counts on is alive again",
    [[0, { a: 1 }], [300, { a: 1 }], [600, { a: 1 }], [900, { a: 1 }], [1_200, { a: 2 }]],
    ["a"],
    []
  ],
  [
    "a count that goes back is a sign of life too: the list was lost",
    [[0, { a: 9 }], [300, { a: 9 }], [600, { a: 9 }], [900, { a: 1 }]],
    ["a"],
    []
  ],
  [
    "who left is neither alive nor dead",
    [[0, { a: 1, b: 1 }], [300, { b: 2 }]],
    ["b"],
    []
  ],
  [
    "a watcher that was away for more than half a lease gives everybody a whole lease to count on",
    [[0, { a: 1 }], [300, { a: 1 }], [5_000, { a: 1 }]],
    ["a"],
    []
  ],
  [
    "and after that lease they are dead",
    [[0, { a: 1 }], [5_000, { a: 1 }], [5_300, { a: 1 }], [5_600, { a: 1 }], [5_900, { a: 1 }]],
    [],
    ["a"]
  ],
  [
    "a watcher that looks every half lease has not been away",
    [[0, { a: 1 }], [450, { a: 1 }], [900, { a: 1 }]],
    [],
    ["a"]
  ]
]

describe("a watch of workers", () => {
  for (const [what, looks, alive, dead] of table) {
    it(what, () => {
      const watch = watching(...looks)
      assert.deepStrictEqual([watch.alive, watch.dead], [alive, dead])
      for (const worker of alive) assert.isTrue(watch.isAlive(worker))
      for (const worker of [...dead, "unknown"]) assert.isFalse(watch.isAlive(worker))
    })
  }

  it("lists the living in the order of their names, so that all agree whose turn it is", () =>
    assert.deepStrictEqual(watching([0, { c: 1, a: 1, b: 1 }]).alive, ["a", "b", "c"]))
})
