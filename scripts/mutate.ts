/**
 * Breaks the code in one place after another and says which breaks no test notices: `npm run mutate` the task machine,
 * `npm run mutate -- --checks [part of a path]` what a message must pass before and while it is served.
 */
await import(process.argv.includes("--checks") ? "./mutate/checks.ts" : "./mutate/machine.ts")
