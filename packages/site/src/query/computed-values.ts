import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import type { SqlValue } from '../records/sql.js';
import type { ComputedValues, SiteRecord, WorkMeter } from './record-queries.js';
import { DataNotLoadedError } from './record-reader.js';

/** Computing values for a few hundred images takes long enough to delay other requests noticeably. */
const BATCH = 200;

/** A value that contains all links of an image is about 1 kB of text. */
const MAX_LOADED = 50_000;

type ValueCache = LRUCache<string, { readonly value: SqlValue }>;

/** Caches computed values, in SQL form, for one version of the records. */
export class ComputedCache {
  /** Created on demand, as it reserves memory for all its entries, and many queries compute no value. */
  #values: ValueCache | undefined;
  #version = -1;

  /** Returns the values of a version, after clearing those of any other. */
  of(version: number): ValueCache {
    if (version !== this.#version) this.#values?.clear();
    this.#version = version;
    return (this.#values ??= createValueCache());
  }
}

const createValueCache = (): ValueCache =>
  new LRUCache({
    max: MAX_LOADED,
    maxSize: 32 * 1024 * 1024,
    sizeCalculation: ({ value }, key) => key.length + (typeof value === 'string' ? value.length : 0) + 1,
  });

interface Wanted {
  readonly kind: string;
  readonly field: string;
  readonly records: Map<string, SiteRecord>;
}

/**
 * Loads the computed values that the statements of one request need. A statement that needs values which are not yet
 * loaded runs to its end without them, which collects them all; then they are loaded, and the statement runs again.
 */
export class ComputedValueLoader {
  readonly #values: ComputedValues;
  readonly #cache: () => ValueCache;
  /** The cache may evict values that the next run needs. */
  readonly #loaded = new Map<string, SqlValue>();
  readonly #wanted = new Map<string, Wanted>();

  constructor(values: ComputedValues, cache: () => ValueCache) {
    this.#values = values;
    this.#cache = cache;
  }

  /** @param text The columns that the field's resolver needs, as JSON. */
  valueOf(kind: string, field: string, text: string): SqlValue {
    const key = `${kind}.${field} ${text}`;
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    const cached = this.#cache().get(key);
    if (cached) return cached.value;
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

  /** @throws DataNotLoadedError when the last statement needed values that are not loaded. */
  requireKnown(meter: WorkMeter | undefined): void {
    if (this.#wanted.size === 0) return;
    const wanted = [...this.#wanted.values()];
    this.#wanted.clear();
    throw new DataNotLoadedError(async () => {
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
      `Filtering by ${kind}.${field} is limited to ${MAX_LOADED} records. Filter by a stored field first.`,
    );
  }

  async #load({ kind, field, records }: Wanted, meter: WorkMeter | undefined): Promise<void> {
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

function toSqlValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}
