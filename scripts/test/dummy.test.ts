import { assert, it } from "vitest"
it("runs on the pinned Node", () => { assert.isAtLeast(Number(process.versions.node.split(".")[0]), 24) })
