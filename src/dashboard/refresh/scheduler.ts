import { setTimeout as sleep } from 'node:timers/promises';
import { inTurn } from '../../in-turn.js';
import type { Database } from '../../storage/database.js';
import { listDue, scheduleEverybody } from './schedule.js';

/** How often the schedule is looked at: whoever saved settings elsewhere, and boards of a server that died, wait so long. */
const LOOK_MS = 1_000;

/** Boards that are worked on at the same time, each with a few requests to each forge. */
const AT_A_TIME = 4;

/** More than are worked on in a second. */
const LOOKED_AT = 100;

/** Nobody waits longer for a server that starts; what is late is as old as it was before. */
const FIRST_ROUND_MS = 30_000;

export interface SchedulerOptions {
  readonly database: Database;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Does what is due of a board, if nobody else does; it must not fail. */
  readonly work: (personId: string) => Promise<void>;
  readonly report: (error: unknown) => void;
}

export interface Scheduler {
  /** @returns when what was due has been done, or after 30 seconds. */
  start(): Promise<void>;
  /** Has the schedule looked at now. */
  wake(): void;
  /** Waits until it no longer looks. */
  readonly ended: () => Promise<void>;
}

export function createScheduler({ database, now, signal, work, report }: SchedulerOptions): Scheduler {
  const run = inTurn(AT_A_TIME);
  const underWay = new Map<string, Promise<void>>();
  let waking = new AbortController();
  let loop: Promise<void> | undefined;

  function begin(personId: string): Promise<void> {
    const started = run(async () => (signal.aborted ? undefined : work(personId)));
    const one = started.finally(() => underWay.delete(personId));
    underWay.set(personId, one);
    return one;
  }

  async function look(): Promise<void> {
    if (signal.aborted) return;
    const due = await listDue(database, now(), LOOKED_AT);
    await Promise.all(due.filter((personId) => !underWay.has(personId)).map(begin));
  }

  async function lookOn(): Promise<void> {
    while (!signal.aborted) {
      waking = new AbortController();
      await sleep(LOOK_MS, undefined, { signal: AbortSignal.any([signal, waking.signal]), ref: false }).catch(
        () => undefined,
      );
      void look().catch(report);
    }
  }

  return {
    async start() {
      await scheduleEverybody(database, now()).catch(report);
      const first = look().catch(report);
      loop = lookOn();
      await Promise.race([first, sleep(FIRST_ROUND_MS, undefined, { signal, ref: false }).catch(() => undefined)]);
    },
    wake: () => waking.abort(),
    ended: async () => loop,
  };
}
