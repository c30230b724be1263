/**
 * Every rule that `npm run tidy` enforces. Adding one: write it beside its kin, add it there, test it in
 * scripts/test with a snippet it catches and one it lets pass.
 */
import { arrowRules } from "./arrowRules.ts"
import { honestyRules } from "./honestyRules.ts"
import { outsideRules } from "./outsideRules.ts"
import type { Rule } from "./Rule.ts"
import { shapeRules } from "./shapeRules.ts"

/** All rules, in the order they are reported. */
export const rules: ReadonlyArray<Rule> = [...arrowRules, ...outsideRules, ...shapeRules, ...honestyRules]
