/**
 * Breaks one line of the system for the thread that calls it, before the system is loaded.
 *
 * @since 0.1.0
 */
import { registerHooks } from "node:module"
import { type Sabotage, sabotages } from "./sabotages.ts"

/**
 * Finds a sabotage by its name.
 *
 * @since 0.1.0
 */
export const find = (name: string): Sabotage | undefined => sabotages.find((sabotage) => sabotage.name === name)

/**
 * Breaks the line from now on: whoever loads its file gets it broken. Throws where the line is not there once, since
 * then it proves nothing.
 *
 * @since 0.1.0
 */
export const commit = ({ file, is, name, was }: Sabotage): void => {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      if (!url.endsWith(`/packages/${file}`)) return loaded
      const source = String(loaded.source)
      const parts = source.split(was)
      if (parts.length !== 2) throw new Error(`${name}: the line stands ${parts.length - 1} times in ${file}: ${was}`)
      return { ...loaded, source: parts.join(is) }
    }
  })
}
