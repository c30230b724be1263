/** That the suite for signals passes what is right and fails what is wrong. */
import { TaskSignal } from "@effect-mcp-tasks/engine"
import * as TaskSignalTest from "@effect-mcp-tasks/testing/TaskSignalTest"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, PubSub, type Scope, Semaphore } from "effect"
import * as interruption from "../src/internal/interruption.ts"
import * as Trial from "./Trial.ts"

type Signal = TaskSignal.TaskSignal["Service"]

const memory = Effect.map(Layer.build(Layer.fresh(TaskSignal.layerMemory)), Context.get(TaskSignal.TaskSignal))

/** One signal for all processes of a place; `opens` is what each of them makes of it, by its number. */
const shared = (opens: (signal: Signal, process: number) => Effect.Effect<Signal, never, Scope.Scope>) =>
  Effect.map(memory, (signal) => {
    let process = 0
    return Layer.effect(TaskSignal.TaskSignal, Effect.suspend(() => opens(signal, process++)))
  })

TaskSignalTest.suite("a signal in memory that several processes share", shared((signal) => Effect.succeed(signal)))

/** A signal that is wrong in one thing, and the cases that notice. */
interface BrokenSignal {
  readonly name: string
  readonly place: TaskSignalTest.Place
  readonly noticedBy: ReadonlyArray<string>
}

const publishing = (publish: (signal: Signal) => Signal["publish"]): TaskSignalTest.Place =>
  shared((signal) => Effect.succeed({ ...signal, publish: publish(signal) }))

/** Hubs of Effect that do not suit a hint. */
const hubs: ReadonlyArray<BrokenSignal> = ([
  ["a subscriber that never reads holds up who publishes, after 200", PubSub.bounded<string>(200)],
  ["a subscriber that never reads holds up who publishes, after 16,384", PubSub.bounded<string>(16_384)],
  ["everything is kept for a subscriber that never reads", PubSub.unbounded<string>()],
  ["a subscriber that never reads makes all others deaf", PubSub.dropping<string>(16_384)]
] as const).map(([name, hub]) => ({
  name,
  place: Effect.map(hub, (hub) =>
    Layer.succeed(TaskSignal.TaskSignal, {
      publish: (taskId) => Effect.asVoid(PubSub.publish(hub, taskId)),
      subscribe: PubSub.subscribe(hub)
    })),
  noticedBy: [
    "waits for no subscriber, and keeps little for one that never reads",
    "waits for no subscriber, and keeps little for one that never reads, between processes"
  ]
}))

const eachTime = "is heard each time that it is said, once, as soon as it was heard before"
const anyText = "carries ids of any text, and no other"

const epochMillis = Effect.clockWith((clock) => clock.currentTimeMillis)

/** Signals that are dropped for good where the same one was said shortly before. */
const hasty: ReadonlyArray<BrokenSignal> = [
  {
    name: "a task is named once in 200 milliseconds",
    place: publishing((signal) => {
      const last = new Map<string, number>()
      return (taskId) =>
        Effect.flatMap(epochMillis, (now) => {
          if (now - (last.get(taskId) ?? -Infinity) < 200) return Effect.void
          last.set(taskId, now)
          return signal.publish(taskId)
        })
    }),
    noticedBy: [eachTime, `${eachTime}, between processes`]
  },
  {
    name: "the task that was named last is not named again for 15 milliseconds",
    place: publishing((signal) => {
      let last = { taskId: "", at: -Infinity }
      return (taskId) =>
        Effect.flatMap(epochMillis, (now) => {
          if (taskId === last.taskId && now - last.at < 15) return Effect.void
          last = { taskId, at: now }
          return signal.publish(taskId)
        })
    }),
    noticedBy: [eachTime, `${eachTime}, between processes`]
  },
  {
    name: "a task is not named again while anyone has yet to read that it was",
    place: Effect.suspend(() => {
      const subscriptions = new Set<PubSub.Subscription<string>>()
      const said = new Set<string>()
      const isUnread = (subscription: PubSub.Subscription<string>) =>
        Option.getOrElse(PubSub.remainingUnsafe(subscription), () => 0) > 0
      return shared((signal) =>
        Effect.succeed({
          subscribe: Effect.tap(signal.subscribe, (subscription) => Effect.sync(() => subscriptions.add(subscription))),
          publish: (taskId) =>
            Effect.suspend(() => {
              if (said.has(taskId) && [...subscriptions].some(isUnread)) return Effect.void
              said.add(taskId)
              return signal.publish(taskId)
            })
        })
      )
    }),
    noticedBy: [eachTime, `${eachTime}, between processes`]
  }
]

/** Signals that go as a list of ids, with something between two of them. */
const listed: ReadonlyArray<BrokenSignal> = [",", " ", "\n", ";", "|", "\0", "\x1f", ":"].map((separator) => ({
  name: `ids are a list with ${JSON.stringify(separator)} between two of them`,
  place: publishing((signal) => (taskId) => Effect.forEach(taskId.split(separator), signal.publish, { discard: true })),
  noticedBy: [anyText, `${anyText}, between processes`]
}))

const broken: ReadonlyArray<BrokenSignal> = [
  {
    name: "nothing is heard",
    place: publishing(() => () => Effect.void),
    noticedBy: [
      "is heard in its own process without waiting for anyone",
      "is heard by every other process, each way"
    ]
  },
  {
    name: "processes do not hear each other",
    place: Effect.succeed(TaskSignal.layerMemory),
    noticedBy: [
      "is heard by every other process, each way",
      "loses none of four thousand in ordinary times, and mistakes none, between processes"
    ]
  },
  {
    name: "the second process is not heard",
    place: shared((signal, process) =>
      Effect.succeed(process === 0 ? signal : { ...signal, publish: () => Effect.void })),
    noticedBy: ["is heard by every other process, each way"]
  },
  {
    name: "the third process hears nothing",
    place: shared((signal, process) =>
      Effect.succeed(process < 2 ? signal : {
        ...signal,
        subscribe: Effect.flatMap(PubSub.unbounded<string>(), PubSub.subscribe)
      })),
    noticedBy: ["is heard by every other process, each way"]
  },
  {
    name: "an id is said once in its life",
    place: publishing((signal) => {
      const said = new Set<string>()
      return (taskId) =>
        Effect.suspend(() => {
          if (said.has(taskId)) return Effect.void
          said.add(taskId)
          return signal.publish(taskId)
        })
    }),
    noticedBy: [
      eachTime,
      `${eachTime}, between processes`
    ]
  },
  ...hasty,
  ...listed,
  {
    name: "one in 1,500 names another task",
    place: publishing((signal) => {
      let count = 0
      return (taskId) => Effect.suspend(() => signal.publish(++count % 1_500 === 0 ? "task-1" : taskId))
    }),
    noticedBy: [
      "loses none of four thousand in ordinary times, and mistakes none",
      "loses none of four thousand in ordinary times, and mistakes none, between processes"
    ]
  },
  {
    name: "one in 50,000 names a task that there is not",
    place: publishing((signal) => {
      let count = 0
      return (taskId) => Effect.suspend(() => signal.publish(++count % 50_000 === 49_999 ? "nobody" : taskId))
    }),
    noticedBy: [
      "takes a hundred thousand in a row, and works on",
      "takes a hundred thousand in a row, and works on, between processes"
    ]
  },
  {
    name: "a task wakes all whose ids begin with its own",
    place: publishing((signal) => {
      const known = new Set<string>()
      return (taskId) =>
        Effect.suspend(() => {
          known.add(taskId)
          return Effect.forEach([...known].filter((id) => id.startsWith(taskId)), signal.publish, { discard: true })
        })
    }),
    noticedBy: [
      "names the task that has changed, and none whose id is like its own",
      "names the task that has changed, and none whose id is like its own, between processes"
    ]
  },
  {
    name: "a task wakes those whose ids are its own with a digit more",
    place: publishing((signal) => (taskId) =>
      Effect.andThen(signal.publish(taskId), taskId === "task-1" ? signal.publish("task-10") : Effect.void)),
    noticedBy: ["names the task that has changed, and none whose id is like its own"]
  },
  {
    name: "to publish takes a millisecond",
    place: publishing((signal) => (taskId) => Effect.delay(signal.publish(taskId), 1)),
    noticedBy: ["is heard in its own process without waiting for anyone"]
  },
  {
    name: "one in a hundred is lost",
    place: publishing((signal) => {
      let count = 0
      return (taskId) => ++count % 100 === 0 ? Effect.void : signal.publish(taskId)
    }),
    noticedBy: [
      "loses none of four thousand in ordinary times, and mistakes none",
      "loses none of four thousand in ordinary times, and mistakes none, between processes"
    ]
  },
  {
    name: "what was said last is heard late",
    place: publishing((signal) => {
      let waiting: string | undefined
      return (taskId) => {
        const before = waiting
        waiting = taskId
        return before === undefined ? Effect.void : signal.publish(before)
      }
    }),
    noticedBy: ["is heard in its own process without waiting for anyone"]
  },
  {
    name: "who publishes waits for who listens",
    place: Effect.succeed(Layer.effect(
      TaskSignal.TaskSignal,
      Effect.map(PubSub.bounded<string>(2), (hub) => ({
        publish: (taskId) => Effect.asVoid(PubSub.publish(hub, taskId)),
        subscribe: PubSub.subscribe(hub)
      }))
    )),
    noticedBy: ["is heard in its own process without waiting for anyone"]
  },
  {
    name: "only the last subscriber hears",
    place: shared((signal) =>
      Effect.sync(() => {
        let last = 0
        return {
          ...signal,
          subscribe: Effect.gen(function*() {
            const number = ++last
            const all = yield* signal.subscribe
            const own = yield* PubSub.unbounded<string>()
            const subscription = yield* PubSub.subscribe(own)
            yield* Effect.forkScoped(Effect.forever(Effect.flatMap(PubSub.take(all), (taskId) =>
              number === last ? PubSub.publish(own, taskId) : Effect.void)))
            return subscription
          })
        }
      })),
    noticedBy: [
      "is heard by all subscribers, and no longer by one that has left",
      "is heard by all subscribers, and no longer by one that has left, between processes"
    ]
  },
  ...hubs,
  {
    name: "all subscribers take from one subscription",
    place: shared((signal) =>
      Effect.map(signal.subscribe, (subscription) => ({ ...signal, subscribe: Effect.succeed(subscription) }))),
    noticedBy: [
      "is heard in its own process without waiting for anyone",
      "brings each of a hundred to all subscribers, and not to one of them",
      "brings each of a hundred to all subscribers, and not to one of them, between processes"
    ]
  },
  {
    name: "each signal is for the process whose turn it is",
    place: Effect.sync(() => {
      const processes: Array<Signal> = []
      let said = 0
      return Layer.effect(
        TaskSignal.TaskSignal,
        Effect.map(memory, (signal) => {
          processes.push(signal)
          const next = () => processes[said++ % processes.length] ?? signal
          return { ...signal, publish: (taskId) => Effect.suspend(() => next().publish(taskId)) }
        })
      )
    }),
    noticedBy: ["brings each of a hundred to all processes, and not to one of them"]
  },
  {
    name: "who is interrupted while subscribing keeps all others from it",
    place: shared((signal) =>
      Effect.sync(() => {
        const lock = Semaphore.makeUnsafe(1)
        return {
          ...signal,
          subscribe: Effect.gen(function*() {
            yield* lock.take(1)
            yield* Effect.yieldNow
            const subscription = yield* signal.subscribe
            yield* lock.release(1)
            return subscription
          })
        }
      })),
    noticedBy: ["works on, whoever is interrupted", "works on, whoever is interrupted, between processes"]
  },
  {
    name: "who is interrupted while publishing keeps all others from it",
    place: shared((signal) =>
      Effect.sync(() => {
        const lock = Semaphore.makeUnsafe(1)
        return {
          ...signal,
          publish: (taskId) =>
            lock.take(1).pipe(
              Effect.andThen(Effect.yieldNow),
              Effect.andThen(signal.publish(taskId)),
              Effect.andThen(lock.release(1))
            )
        }
      })),
    noticedBy: ["works on, whoever is interrupted", "works on, whoever is interrupted, between processes"]
  },
  {
    name: "ids are trimmed",
    place: publishing((signal) => (taskId) => signal.publish(taskId.trim())),
    noticedBy: ["carries ids of any text, and no other", "carries ids of any text, and no other, between processes"]
  },
  {
    name: "half characters are replaced",
    place: publishing((signal) => (taskId) => signal.publish(taskId.toWellFormed())),
    noticedBy: ["carries ids of any text, and no other"]
  },
  {
    name: "long ids are said in two halves as well",
    place: publishing((signal) => (taskId) =>
      Effect.andThen(
        signal.publish(taskId),
        taskId.length < 200 ? Effect.void : signal.publish(taskId.slice(0, taskId.length / 2))
      )),
    noticedBy: ["carries ids of any text, and no other"]
  },
  {
    name: "it stops for good after ten thousand",
    place: publishing((signal) => {
      let count = 0
      return (taskId) => ++count > 10_000 ? Effect.void : signal.publish(taskId)
    }),
    noticedBy: [
      "takes a hundred thousand in a row, and works on",
      "takes a hundred thousand in a row, and works on, between processes"
    ]
  },
  {
    name: "to publish when it is closed is a defect",
    place: shared((signal) =>
      Effect.gen(function*() {
        let isOpen = true
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            isOpen = false
          }))
        return {
          ...signal,
          publish: (taskId) => Effect.suspend(() => isOpen ? signal.publish(taskId) : Effect.die("It is closed"))
        }
      })),
    noticedBy: ["publishes while its scope closes, and after that"]
  }
]

describe("the suite for signals", () => {
  for (const { name, noticedBy, place } of broken) {
    it.effect(`notices that ${name}`, () =>
      Effect.gen(function*() {
        const cases = Trial.named(TaskSignalTest.cases, noticedBy)
        assert.deepStrictEqual(yield* Trial.failing(cases, place, 1_000), noticedBy)
      }).pipe(Effect.provideService(interruption.Patience, Duration.millis(100))))
  }

  for (const step of [1, 1_000, 60_000]) {
    it.effect(`passes what is right, by a clock that goes on by ${step} milliseconds`, () =>
      Effect.gen(function*() {
        const place = shared((signal) => Effect.succeed(signal))
        assert.deepStrictEqual(yield* Trial.failing(TaskSignalTest.cases, place, step), [])
      }))
  }
})
