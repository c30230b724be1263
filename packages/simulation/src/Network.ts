/**
 * The network between clients and servers: one address, behind which any of the servers answers.
 *
 * A request may be lost, slow or doubled, and so may what comes back. What one server says to one request arrives in
 * the order in which it was said, and ends where the connection breaks.
 *
 * @since 0.2.0
 */
import type { Process } from "./Process.ts"
import type { Message, Server } from "./Server.ts"
import type { Weather } from "./Weather.ts"

/**
 * A request on its way to a server.
 *
 * @since 0.2.0
 */
export interface Letter extends Message {
  readonly client: Process
  /** The place that it is sent from, which the client's next process will have too. */
  readonly from: string
}

/**
 * Hears what comes back.
 *
 * @since 0.2.0
 */
export interface Hearer {
  /** Something that a server said. */
  readonly onMessage: (text: string, server: Process, isLast: boolean) => void
  /** Nobody listens there, or not any more. */
  readonly onBroken: () => void
}

/** How long a broken connection takes to be noticed at its other end, in milliseconds. */
const noticeMs = 20

/**
 * The network between clients and servers.
 *
 * @since 0.2.0
 */
export class Network {
  private readonly weather: Weather
  private readonly servers: ReadonlyArray<Server>

  constructor(weather: Weather, servers: ReadonlyArray<Server>) {
    this.weather = weather
    this.servers = servers
  }

  /** Sends a request to one server or another. Gives back how to go away without waiting for its answer. */
  send(letter: Letter, hearer: Hearer): () => void {
    const { client: { dice, world }, from } = letter
    const index = dice.between(0, this.servers.length - 1)
    const server = this.servers[index] as Server
    const fate = this.weather.request(from, `server ${index + 1}`)
    const lines: Array<Line> = []
    let speaker: Line | undefined
    const deliver = () => {
      const line = new Line(this.weather, letter, { link: `${from} to server ${index + 1}`, backMs: fate.backMs })
      lines.push(line)
      // The first copy to be answered is the one that counts.
      line.open(server, {
        onMessage: (...said) => (speaker ??= line) === line ? hearer.onMessage(...said) : undefined,
        onBroken: () => (speaker ?? line) === line ? hearer.onBroken() : undefined
      })
      if (fate.abortMs !== undefined) world.after(fate.abortMs, () => line.leave())
    }
    for (const ms of fate.arrivesMs) world.after(ms, deliver)
    return () => world.after(noticeMs, () => lines.forEach((line) => line.leave()))
  }
}

/** One connection: what a server says to one copy of a request, in order. */
class Line {
  private readonly weather: Weather
  private readonly letter: Letter
  private readonly options: { readonly link: string; readonly backMs: number | undefined }
  private readonly arriving: Array<() => void> = []
  private isOver = false
  private lastMs = 0
  private stop: () => void = () => undefined
  private forget: () => void = () => undefined

  constructor(weather: Weather, letter: Letter, options: Line["options"]) {
    this.weather = weather
    this.letter = letter
    this.options = options
  }

  open(server: Server, hearer: Hearer): void {
    const { process } = server
    const { backMs, link } = this.options
    this.forget = process.onCrash(() => this.ends(this.weather.breakage(noticeMs), hearer.onBroken))
    this.stop = server.handle(this.letter, (text, isLast) => {
      if (text === undefined) return this.ends(backMs, hearer.onBroken)
      if (isLast) return this.ends(backMs, () => hearer.onMessage(text, process, true))
      const { afterMs, isCut } = this.weather.notification(link)
      if (isCut || afterMs === undefined) return this.ends(afterMs, hearer.onBroken)
      this.arrives(afterMs, () => hearer.onMessage(text, process, false))
    })
  }

  /** Lets the server notice that its client has gone. */
  leave(): void {
    this.ends(undefined, () => undefined)
    this.stop()
  }

  /** The last thing that arrives; nothing does from now on where it is lost. */
  private ends(afterMs: number | undefined, happen: () => void): void {
    if (afterMs !== undefined) this.arrives(afterMs, happen)
    this.isOver = true
    this.forget()
  }

  /** What was said later arrives later. */
  private arrives(afterMs: number, happen: () => void): void {
    if (this.isOver) return
    const { client } = this.letter
    const { now } = client.world
    this.lastMs = Math.max(this.lastMs, now + afterMs)
    this.arriving.push(happen)
    client.after(this.lastMs - now, () => this.arriving.shift()?.())
  }
}
