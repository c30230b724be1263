/**
 * Every duty that the protocol gives a server of tasks, and a client of one, as data.
 *
 * Tests cite a duty by its id in brackets at the end of their title: `it.effect("refuses a batch [A4]", ...)`. The
 * check `duties` fails when a duty has no test, and when a test cites one that is not here;
 * `docs/SPEC-COVERAGE.md` is made of both.
 *
 * @since 0.1.0
 */
import * as basic from "./requirements/basic.ts"
import * as client from "./requirements/client.ts"
import type { Duty, Section } from "./requirements/Duty.ts"
import * as listening from "./requirements/listening.ts"
import * as tasks from "./requirements/tasks.ts"
import * as transports from "./requirements/transports.ts"

/** All sections, in the order of their letters. */
export const sections: ReadonlyArray<Section> = [
  transports.http,
  transports.pipes,
  basic.base,
  basic.tools,
  tasks.tasks,
  tasks.input,
  tasks.cancelling,
  listening.notifications,
  listening.security,
  client.clients,
  listening.authorization
]

/** All duties. */
export const duties: ReadonlyArray<Duty> = sections.flatMap((section) => section.duties)
