import { setTimeout as delay } from 'node:timers/promises';
import type { ReadableSite } from '@trellis/site/site';

/** Receives a line after each batch. */
export type AheadLog = Readonly<Record<'info' | 'warn', (line: string) => void>>;

/** What a site renders from its records ahead of the first query for it. */
export interface WorkAhead {
  close(): void;
}

interface WorkAheadOptions {
  readonly store: ReadableSite['store'];
  /** The record types that the work is for. */
  readonly kinds: readonly string[];
  /** What is rendered, for the log, such as `Texts`. */
  readonly name: string;
  /** The time before the first batch, in milliseconds, in which a server handles its first requests. */
  readonly delayMs?: number;
  readonly log: AheadLog;
  /**
   * Renders what is not stored yet and returns how much that was.
   *
   * @param ids Those of the changed records; absent for all records.
   */
  readonly prepare: (ids: readonly string[] | undefined, signal: AbortSignal) => Promise<number>;
}

/** Renders something for all records, and then for those that are added or changed. */
export function workAhead({ store, kinds, name, delayMs = 0, log, prepare }: WorkAheadOptions): WorkAhead {
  const closing = new AbortController();
  const { signal } = closing;
  const changes = store.changes.follow();

  async function prepareAndLog(ids: readonly string[] | undefined): Promise<void> {
    const startedAt = performance.now();
    try {
      const made = await prepare(ids, signal);
      if (made === 0 || signal.aborted) return;
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      log.info(`${name} rendered ahead of queries: ${made.toLocaleString('en')} (${seconds} s).`);
    } catch (error) {
      // Closing the site ends the work, and queries report the other errors.
      if (!signal.aborted) log.warn(`${name} are not rendered ahead of queries: ${String(error)}`);
    }
  }

  async function follow(): Promise<void> {
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
    // The first change has no records, and stands for all of them.
    for await (const change of changes) {
      if (signal.aborted) return;
      if (change.kinds.length > 0 && !change.kinds.some((kind) => kinds.includes(kind))) continue;
      await prepareAndLog(change.kinds.length === 0 || change.isTruncated ? undefined : change.ids);
    }
  }

  void follow();
  return {
    close() {
      closing.abort();
      void changes.return?.();
    },
  };
}
