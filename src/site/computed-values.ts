import { LRUCache } from 'lru-cache';
import { AppError } from '../errors.js';
import type { Meter } from './record-queries.js';
import type { SiteRecord } from './selection.js';
import type { SqlValue } from './sql.js';

/** Gives the values of computed fields where a filter, a sort or a group names them. */
export interface ComputedValues {
  /**
   * What the field's resolver answers with default arguments, if that is known
   * at once; `null` is missing, and so is a value that is refused by an AppError.
   */
  find(kind: string, field: string, record: SiteRecord): unknown;
  /** The values of some records for which {@link find} knew none, each by its place; what is absent is missing. */
  load(kind: string, field: string, records: readonly SiteRecord[]): Promise<readonly unknown[]>;
}

/** The answers about some hundred images take as long as it takes others to notice. */
const BATCH = 200;

/** A value with all links of an image is a kilobyte of text. */
const MAX_LOADED = 50_000;

type Kept = LRUCache<string, { readonly value: SqlValue }>;

/** Values, as SQL takes them, of one generation of records. */
export class ComputedCache {
  readonly #values: Kept = new LRUCache({
    max: MAX_LOADED,
    maxSize: 32 * 1024 * 1024,
    sizeCalculation: ({ value }, key) => key.length + (typeof value === 'string' ? value.length : 0) + 1,
  });
  #generation = -1;

  /** Forgets what it knew of another generation. */
  of(generation: number): Kept {
    if (generation !== this.#generation) this.#values.clear();
    this.#generation = generation;
    return this.#values;
  }
}

interface Wanted {
  readonly kind: string;
  readonly field: string;
  readonly records: Map<string, SiteRecord>;
}

/**
 * What one request computes. A statement that meets values which are not known
 * yet runs to its end without them, so that all of them are known to be
 * wanted; then they are loaded, and it runs again.
 */
export class Computing {
  readonly #values: ComputedValues;
  readonly #cache: () => Kept;
  /** The cache may forget what the next run needs. */
  readonly #loaded = new Map<string, SqlValue>();
  readonly #wanted = new Map<string, Wanted>();

  constructor(values: ComputedValues, cache: () => Kept) {
    this.#values = values;
    this.#cache = cache;
  }

  /** @param text The columns that the field's resolver needs, as JSON. */
  valueOf(kind: string, field: string, text: string): SqlValue {
    const key = `${kind}.${field} ${text}`;
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    const kept = this.#cache().get(key);
    if (kept) return kept.value;
    const record = JSON.parse(text) as SiteRecord;
    const found = this.#find(kind, field, record);
    if (found === undefined) {
      this.#want({ kind, field, key, record });
      return null;
    }
    const value = toSqlValue(found);
    this.#cache().set(key, { value });
    return value;
  }

  /** @throws NotYetKnown when a statement that has run met some. */
  requireKnown(meter: Meter | undefined): void {
    if (this.#wanted.size === 0) return;
    const wanted = [...this.#wanted.values()];
    this.#wanted.clear();
    throw new NotYetKnown(async () => {
      for (const one of wanted) await this.#load(one, meter);
    });
  }

  #find(kind: string, field: string, record: SiteRecord): unknown {
    try {
      return this.#values.find(kind, field, record);
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  #want({ kind, field, key, record }: { kind: string; field: string; key: string; record: SiteRecord }): void {
    const wanted = this.#wanted.get(`${kind}.${field}`) ?? { kind, field, records: new Map<string, SiteRecord>() };
    this.#wanted.set(`${kind}.${field}`, wanted);
    wanted.records.set(key, record);
    if (wanted.records.size + this.#loaded.size <= MAX_LOADED) return;
    this.#wanted.clear();
    throw new AppError(
      'invalid_input',
      `Expected to compute ${kind}.${field} for at most ${MAX_LOADED} records; add a filter by stored fields.`,
    );
  }

  async #load({ kind, field, records }: Wanted, meter: Meter | undefined): Promise<void> {
    const entries = [...records];
    for (let start = 0; start < entries.length; start += BATCH) {
      meter?.check();
      const batch = entries.slice(start, start + BATCH);
      const found = await this.#values.load(
        kind,
        field,
        batch.map(([, record]) => record),
      );
      batch.forEach(([key], place) => {
        const value = toSqlValue(found[place]);
        this.#loaded.set(key, value);
        this.#cache().set(key, { value });
      });
    }
  }
}

/** Thrown by a query that needs something which takes time, such as computed values. */
export class NotYetKnown extends Error {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super('This query needs values that have not been loaded yet.');
    this.load = load;
  }
}

/** Returns the result of `read`: at once, or after loading what it turns out to need. */
export function whenKnown<T>(read: () => T | Promise<T>): T | Promise<T> {
  const again = async (error: unknown): Promise<T> => {
    if (!(error instanceof NotYetKnown)) throw error;
    await error.load();
    return whenKnown(read);
  };
  try {
    const found = read();
    return found instanceof Promise ? found.catch(again) : found;
  } catch (error) {
    if (error instanceof NotYetKnown) return again(error);
    throw error;
  }
}

function toSqlValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}
