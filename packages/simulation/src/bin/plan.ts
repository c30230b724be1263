/**
 * `npm run plan`: what a server will have to do for so many tasks, their clients and users, before there is one.
 *
 * The plan goes to the standard output, as a table or as JSON; a chart goes to a file.
 *
 * @since 0.2.0
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as chart from "../plan/chart.ts"
import * as flags from "../plan/flags.ts"
import * as Plan from "../plan/Plan.ts"
import * as report from "../plan/report.ts"
import * as program from "./program.ts"

const main = Effect.fn(function*(options: flags.PlanOptions) {
  const settings = flags.settingsOf(options)
  if (Result.isFailure(settings)) return yield* program.refuse(settings.failure)
  const plan = Plan.run(settings.success)
  const listening = settings.success.listening === 1 ? undefined : Plan.run({ ...settings.success, listening: 1 })
  yield* Console.log(
    options.json ? JSON.stringify(report.toJson(plan, listening), undefined, 2) : report.print(plan, listening)
  )
  // The plan comes first: it has been made, whether there is a place for the chart or not.
  if (Option.isSome(options.svg)) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.writeFileString(options.svg.value, chart.draw(plan, listening))
  }
}, Effect.catchTag("PlatformError", (error) => program.refuse(`The chart could not be written: ${error.message}`)))

program.run(
  "plan",
  "Says what a server will have to do, from the rate of its tasks and the ways of its clients",
  flags.all,
  main
)
