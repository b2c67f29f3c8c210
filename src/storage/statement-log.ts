import type { SlowStatement, StatementWatch } from '@trellis/core/telemetry';
import type { Log } from '@trellis/server/http/request';
import { LRUCache } from 'lru-cache';

/** The most lines in a minute. More would hide the others, and slow the database down further. */
const MAX_LINES = 60;
const MINUTE_MS = 60_000;

/** A plan is read and logged once an hour for each statement. */
const PLAN_MS = 3_600_000;
const MAX_PLANS = 200;

/** The longest text of a statement in a line. Statements for batches repeat their parts. */
const MAX_CHARACTERS = 2_000;

/** Creates the watch that logs slow statements with their plan, or `undefined` for a threshold of 0. */
export function createStatementLog(
  log: Log,
  slowMs: number,
  now: () => number = () => performance.now(),
): StatementWatch | undefined {
  if (slowMs === 0) return undefined;
  const planned = new LRUCache<string, true>({ max: MAX_PLANS, ttl: PLAN_MS, perf: { now } });
  let minute = { start: now(), lines: 0 };

  function isAllowed(): boolean {
    if (now() - minute.start >= MINUTE_MS) minute = { start: now(), lines: 0 };
    minute.lines += 1;
    return minute.lines <= MAX_LINES;
  }

  async function write(slow: SlowStatement): Promise<void> {
    const { text, milliseconds } = slow;
    const isPlanned = planned.has(text);
    planned.set(text, true);
    // A statement that can't be explained is logged without its plan.
    const plan = isPlanned
      ? undefined
      : await Promise.resolve()
          .then(() => slow.explain())
          .catch(String);
    log.warn(
      { statement: shorten(text), milliseconds: Math.round(milliseconds), plan: plan && shorten(plan) },
      'slow statement',
    );
  }

  return {
    slowMs,
    onSlow(statement) {
      if (isAllowed()) void write(statement);
    },
  };
}

const shorten = (text: string): string => (text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`);
