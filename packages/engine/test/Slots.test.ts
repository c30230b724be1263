import { assert, describe, it } from "@effect/vitest"
import { Effect, type Fiber } from "effect"
import { type Seat, Slots } from "../src/internal/slots.ts"
import { settle } from "./TestTools.ts"

const taken = (slots: Slots): Seat => {
  const seat = slots.tryTake()
  if (seat === undefined) throw new Error("There is no slot")
  return seat
}

const isDone = (fiber: Fiber.Fiber<unknown, unknown>) => Effect.map(settle, () => fiber.pollUnsafe() !== undefined)

describe("slots", () => {
  it("are given out as many as there are, and again when they are given back", () => {
    const slots = new Slots(2)
    const [first, second] = [taken(slots), taken(slots)]
    assert.isUndefined(slots.tryTake())
    slots.release(first)
    const third = taken(slots)
    assert.isUndefined(slots.tryTake())
    // Twice is once.
    slots.release(second)
    slots.release(second)
    taken(slots)
    assert.isUndefined(slots.tryTake())
    assert.isTrue(third.isTaken)
  })

  it("are none where nothing is to run here", () => assert.isUndefined(new Slots(0).tryTake()))

  it.effect("say when one is free that nobody waits for", () =>
    Effect.gen(function*() {
      const slots = new Slots(1)
      yield* slots.vacant
      const seat = taken(slots)
      const waiting = yield* Effect.forkChild(slots.vacant)
      assert.isFalse(yield* isDone(waiting))
      slots.release(seat)
      assert.isTrue(yield* isDone(waiting))
    }))

  it.effect("go to handlers that have begun before tasks that have not, the longest waiting first", () =>
    Effect.gen(function*() {
      const slots = new Slots(1)
      const parked = [taken(slots)]
      slots.release(parked[0] as Seat)
      parked.push(taken(slots))
      slots.release(parked[1] as Seat)
      const busy = taken(slots)
      const fresh = yield* Effect.forkChild(slots.vacant)
      const returns = []
      for (const seat of parked) returns.push(yield* Effect.forkChild(slots.retake(seat)))
      const [first, second] = returns as [Fiber.Fiber<void>, Fiber.Fiber<void>]
      yield* settle
      slots.release(busy)
      assert.deepStrictEqual([yield* isDone(first), yield* isDone(second), yield* isDone(fresh)], [true, false, false])
      assert.isUndefined(slots.tryTake())
      slots.release(parked[0] as Seat)
      assert.deepStrictEqual([yield* isDone(second), yield* isDone(fresh)], [true, false])
      slots.release(parked[1] as Seat)
      assert.isTrue(yield* isDone(fresh))
    }))

  it.effect("are not waited for by a handler that is to end, and are not lost by it", () =>
    Effect.gen(function*() {
      const slots = new Slots(1)
      const ending = taken(slots)
      slots.release(ending)
      const busy = taken(slots)
      const waiting = yield* Effect.forkChild(slots.retake(ending))
      assert.isFalse(yield* isDone(waiting))
      slots.excuse(ending)
      assert.isTrue(yield* isDone(waiting))
      assert.isFalse(ending.isTaken)
      slots.release(ending)
      assert.isUndefined(slots.tryTake())
      slots.release(busy)
      taken(slots)
      // One that is excused beforehand does not begin to wait.
      yield* slots.retake(ending)
      assert.isFalse(ending.isTaken)
    }))

  it("stay taken by a handler that is excused while it works, until it ends", () => {
    const slots = new Slots(1)
    const seat = taken(slots)
    slots.excuse(seat)
    assert.isUndefined(slots.tryTake())
    slots.release(seat)
    taken(slots)
  })

  // A handler may ask in several places at once, and be back from one while it waits for a slot in another.
  it.effect("are one for a handler, in however many places it goes on", () =>
    Effect.gen(function*() {
      const slots = new Slots(2)
      const seat = taken(slots)
      const busy = taken(slots)
      slots.release(seat)
      const other = taken(slots)
      const places = [yield* Effect.forkChild(slots.retake(seat)), yield* Effect.forkChild(slots.retake(seat))]
      for (const place of places) assert.isFalse(yield* isDone(place))
      slots.release(busy)
      for (const place of places) assert.isTrue(yield* isDone(place))
      yield* slots.retake(seat)
      slots.release(seat)
      slots.release(other)
      taken(slots)
      taken(slots)
      assert.isUndefined(slots.tryTake())
    }))

  it.effect("are not waited for by a handler that asks again meanwhile: it is parked", () =>
    Effect.gen(function*() {
      const slots = new Slots(1)
      const seat = taken(slots)
      slots.release(seat)
      const busy = taken(slots)
      const place = yield* Effect.forkChild(slots.retake(seat))
      assert.isFalse(yield* isDone(place))
      slots.release(seat)
      assert.isTrue(yield* isDone(place))
      slots.release(busy)
      assert.isFalse(seat.isTaken)
      taken(slots)
    }))

  it.effect("are never taken again by what a handler leaves running, or waiting, when it ends", () =>
    Effect.gen(function*() {
      const slots = new Slots(1)
      const seat = taken(slots)
      slots.release(seat)
      const busy = taken(slots)
      const left = yield* Effect.forkChild(slots.retake(seat))
      assert.isFalse(yield* isDone(left))
      slots.leave(seat)
      assert.isTrue(yield* isDone(left))
      slots.release(busy)
      yield* slots.retake(seat)
      taken(slots)
    }))
})
