import { ForgeError } from '../forge-error.js';

/** Budgets are refilled every hour; an answer that asks for more is not believed. */
const MAX_PAUSE_MS = 3_600_000;

/** Keeps requests back while a forge takes none, for each of its budgets. */
export interface Pauses {
  /** @throws ForgeError `rate_limited` until the pause ends. */
  require(...budgets: string[]): void;
  /** @returns When it ends, which may be sooner than asked for. */
  begin(budget: string, until: number): number;
}

export function createPauses(now: () => number): Pauses {
  const ends = new Map<string, number>();
  return {
    require(...budgets) {
      const resetsAt = Math.max(...budgets.map((budget) => ends.get(budget) ?? 0));
      if (resetsAt > now()) throw new ForgeError('rate_limited', { resetsAt });
    },
    begin(budget, until) {
      const end = Math.min(until, now() + MAX_PAUSE_MS);
      ends.set(budget, Math.max(end, ends.get(budget) ?? 0));
      return end;
    },
  };
}

/** Reads Retry-After, in seconds or as a date, as the moment that it means. */
export function readRetryAfter(headers: Headers, at: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return at + Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}
