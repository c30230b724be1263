/**
 * The tool that `docs/guides/writing-a-tool.md` writes, block by block. A test compares the two and runs it.
 *
 * @since 0.1.0
 */
import { CurrentTask, TaskTool, TaskTools } from "@effect-mcp-tasks/engine"
import { Effect, Layer, Random, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

class VideoNotFound extends Schema.TaggedError<VideoNotFound>()("VideoNotFound", { video: Schema.String }) {
  override get message() {
    return `There is no video ${this.video}. Call list_videos to see which there are.`
  }
}

const Transcode = Tool.make("transcode", {
  description: "Transcodes a video, chapter by chapter",
  parameters: Schema.Struct({ video: Schema.NonEmptyString, chapters: Schema.Int }),
  success: Schema.Struct({ license: Schema.String, quality: Schema.String, chapters: Schema.Int }),
  failure: Schema.Union([VideoNotFound, TaskTool.ProtocolError])
}).annotate(TaskTool.Policy, {
  ttl: "30 minutes",
  resultTtl: "1 day",
  pollInterval: "2 seconds",
  undeclared: "inline",
  recovery: "resume",
  decide: ({ chapters }: { readonly chapters: number }) => chapters === 0 ? "direct" : "task"
})

const buyLicense = (video: string) => Effect.map(Random.nextInt, (code) => `${video}-${code}`)

const encodeChapter = Effect.fn(function*(video: string, chapter: number) {
  yield* Effect.sleep("10 minutes")
  if (video === "damaged") {
    return yield* new TaskTool.ProtocolError({ code: -32603, message: `The encoder crashed in chapter ${chapter}` })
  }
  return chapter
})

const askQuality = Effect.gen(function*() {
  const task = yield* CurrentTask.CurrentTask
  const answer = yield* task.elicit("quality", {
    message: "Which quality is wanted?",
    schema: Schema.Struct({ quality: Schema.Literals(["draft", "final"]) })
  })
  return answer.action === "accept" ? answer.content.quality : "draft"
}).pipe(Effect.catchTag("InputUnavailable", () => Effect.succeed("draft")))

const transcode = Effect.fn("transcode")(function*({ chapters, video }: typeof Transcode.parametersSchema.Type) {
  const task = yield* CurrentTask.CurrentTask
  if (video === "missing") return yield* new VideoNotFound({ video })

  const license = yield* task.step("license", Schema.String, buyLicense(video))
  yield* task.report(`Licensed as ${license}`)
  const quality = yield* askQuality

  for (let chapter = 1; chapter <= chapters; chapter++) {
    yield* task.report(`Chapter ${chapter} of ${chapters}`)
    yield* task.extend("30 minutes")
    yield* task.step(`chapter ${chapter}`, Schema.Int, encodeChapter(video, chapter))
  }
  return { license, quality, chapters }
})

const Tools = Toolkit.make(Transcode)

/** The tool, ready to be served. */
export const layer = TaskTools.layer(Tools).pipe(Layer.provide(Tools.toLayer({ transcode })))
