import { setImmediate } from 'node:timers/promises';
import type { ImageDatabase } from './image-database.js';

/** The two shares of the quota: files in folders, and values that are rows of the database. */
type QuotaShare = 'files' | 'values';

/**
 * The entries of one share, in the order of their last use. Several processes
 * may have the same database open; together they stay within the share.
 */
export interface Quota {
  readonly maxBytes: number;
  /** How many entries this process has evicted. */
  readonly evicted: number;
  /**
   * Records an entry and evicts the least recently used ones until all fit.
   * Resolves when there is room, so the entry's file is to appear after that.
   */
  put(key: string, bytes: number, value?: string): Promise<void>;
  /** The value of an entry, which counts as a use. */
  find(key: string): string | undefined;
  /** Notes a use; written to the database together with others. */
  touch(key: string): void;
  remove(key: string): void;
  has(key: string): boolean;
  /** All that is stored, in bytes. */
  usedBytes(): number;
  /** Writes the uses that are noted. */
  close(): void;
}

export interface QuotaOptions {
  readonly share: QuotaShare;
  readonly maxBytes: number;
  /** Removes what an entry stands for. Runs inside a transaction, so it must not wait. */
  readonly onEvict?: (key: string) => void;
}

/** What a row of a small value takes in the table and its indexes beside the value. */
const ROW_BYTES = 256;

/** Evicted in one transaction: other processes wait for it, and this one answers nothing meanwhile. */
const MAX_EVICTED = 64;

/** Uses are written this often, ... */
const FLUSH_MS = 10_000;

/** ... at most this many, which take about 10 ms; of more, the others are noted at their next use. */
const MAX_TOUCHED = 2_000;

/** A use within this time of the last one that is written changes no row. */
const USE_MS = 60_000;

export function openQuota(database: ImageDatabase, { share, maxBytes, onEvict }: QuotaOptions): Quota {
  const insert = database.prepare('INSERT OR REPLACE INTO stored VALUES (?, ?, ?, ?, ?)');
  const select = database.prepare('SELECT value FROM stored WHERE share = ? AND key = ?');
  const update = database.prepare('UPDATE stored SET used = ? WHERE share = ? AND key = ? AND used < ?');
  const remove = database.prepare('DELETE FROM stored WHERE share = ? AND key = ?');
  const sum = database.prepare('SELECT bytes FROM stored_bytes WHERE share = ?');
  const oldest = database.prepare('SELECT key, bytes FROM stored WHERE share = ? AND key <> ? ORDER BY used LIMIT ?');
  const touched = new Set<string>();
  const timer = setInterval(flush, FLUSH_MS).unref();
  let evicted = 0;

  const usedBytes = (): number => (sum.get(share) as { bytes: number } | undefined)?.bytes ?? 0;

  function touch(key: string): void {
    if (touched.size < MAX_TOUCHED) touched.add(key);
  }

  function flush(): void {
    if (touched.size === 0) return;
    const now = Date.now();
    database.transaction(() => {
      for (const key of touched) update.run(now, share, key, now - USE_MS);
    });
    touched.clear();
  }

  /** The file goes before its row: after a crash in between, a row stands for nothing, which does no harm. */
  function evictSome(except: string): void {
    let excess = usedBytes() - maxBytes;
    const rows = excess > 0 ? (oldest.all(share, except, MAX_EVICTED) as { key: string; bytes: number }[]) : [];
    for (const { key, bytes } of rows) {
      if (excess <= 0) return;
      onEvict?.(key);
      remove.run(share, key);
      evicted += 1;
      excess -= bytes;
    }
  }

  return {
    maxBytes,
    get evicted() {
      return evicted;
    },
    usedBytes,
    async put(key, bytes, value) {
      database.transaction(() => insert.run(share, key, bytes + ROW_BYTES, Date.now(), value ?? null));
      if (usedBytes() > maxBytes) flush();
      for (let before = Infinity, now = usedBytes(); now > maxBytes && now < before; before = now, now = usedBytes()) {
        database.transaction(() => evictSome(key));
        await setImmediate();
      }
    },
    find(key) {
      const row = select.get(share, key) as { value: string | null } | undefined;
      if (row) touch(key);
      return row?.value ?? undefined;
    },
    touch,
    remove: (key) => void remove.run(share, key),
    has: (key) => select.get(share, key) !== undefined,
    close() {
      clearInterval(timer);
      flush();
    },
  };
}
