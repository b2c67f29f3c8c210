import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { AppError } from '@trellis/core/errors';
import { LRUCache } from 'lru-cache';
import type { Matcher, PatternCache, PatternOperator } from '../patterns/patterns.js';
import { type SqlValue, toCodeUnits } from '../records/sql.js';
import type { ComputedValues, SiteRecord, WorkMeter } from './record-queries.js';
import { DataNotLoadedError } from './record-reader.js';
import { type SearchPlaces, toSearchText } from './search.js';

/** The state that the SQL functions of a connection read when they are called. */
export interface FunctionState {
  readonly patterns: PatternCache;
  /** Returns the loader of the running statement, which most statements don't need. */
  computing?: () => ComputedValueLoader;
  /** Returns the matches of a full-text search, which the running statement sorts by. */
  placesOf?: (key: string) => SearchPlaces;
  /** Throws when the running statement must end. */
  look?: () => void;
  /** The error that a function threw, because SQLite passes on only its message. */
  thrown?: unknown;
}

/** Defines the SQL functions that filters, sorts and virtual columns need. */
export function defineFunctions(database: DatabaseSyncInstance, state: FunctionState): void {
  const define: Define = (name, options, run) =>
    database.function(name, { ...options, varargs: true }, (...values: never[]) => {
      try {
        state.look?.();
        return run(...values);
      } catch (error) {
        state.thrown = error;
        throw error;
      }
    });
  // Precedes expensive conditions, so that the work limit is checked for each row.
  define('in_time', {}, () => 1);
  defineMatch(define, 'regex', state);
  defineMatch(define, 'glob', state);
  database.function('code_units', { deterministic: true }, (text: SqlValue) =>
    text === null ? null : toCodeUnits(String(text)),
  );
  defineDerivations(database);
  database.function('joined', { deterministic: true }, (list: string | null) =>
    list === null ? null : String(JSON.parse(list)),
  );
  define('search_place', {}, (key: string, position: number) => state.placesOf?.(key).get(position)?.place ?? LAST);
  define(
    'computed',
    {},
    (kind: string, field: string, record: string) => state.computing?.().valueOf(kind, field, record) ?? null,
  );
}

// A record that began to match while the request ran comes last.
const LAST = Number.MAX_SAFE_INTEGER;

type Define = (name: string, options: { deterministic?: boolean }, run: (...values: never[]) => SqlValue) => void;

/** Defines the functions of virtual columns and of full-text indexes. */
function defineDerivations(database: DatabaseSyncInstance): void {
  database.function('search_text', { deterministic: true }, orNull(toSearchText));
  database.function('iso_time', { deterministic: true }, orNull(createIsoTimes()));
  database.function(
    'lower_case',
    { deterministic: true },
    orNull((text: string) => text.toLowerCase()),
  );
}

/** Returns null for null, like SQLite's own functions. */
function orNull<T>(make: (value: T) => string): (value: T | null) => string | null {
  return (value) => (value === null ? null : make(value));
}

/** Defines a function that tests text. It caches the last pattern, as one statement tests many texts with it. */
function defineMatch(define: Define, operator: PatternOperator, state: FunctionState): void {
  let last: { readonly pattern: string; readonly matches: Matcher } | undefined;
  define(`matches_${operator}`, { deterministic: true }, (pattern: string, text: SqlValue) => {
    if (typeof text !== 'string') return 0;
    if (last?.pattern !== pattern) last = { pattern, matches: state.patterns.get(operator, pattern) };
    return last.matches(text, state.look) ? 1 : 0;
  });
}

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
      if (error instanceof AppError && error.code !== 'unavailable') return null;
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

const DAY_MS = 86_400_000;

/** The latest time that a `Date` can represent; some file systems store later ones. */
const MAX_MS = 8.64e15;

/** The number of days whose text is cached: about 27 years in less than a megabyte. */
const MAX_DAYS = 10_000;

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/**
 * Creates a function that formats milliseconds since 1970 like `toISOString`, rounded to milliseconds like Node's
 * `Stats`. It caches the text of each day, which takes a sixth of the time for many files.
 */
export function createIsoTimes(): (ms: number) => string {
  const days = new Map<number, string>();

  function dateOf(day: number): string {
    const known = days.get(day);
    if (known !== undefined) return known;
    if (days.size === MAX_DAYS) days.clear();
    const [date = ''] = new Date(day * DAY_MS).toISOString().split('T');
    days.set(day, date);
    return date;
  }

  return (ms) => {
    const whole = Math.max(-MAX_MS, Math.min(MAX_MS, Math.round(ms)));
    const day = Math.floor(whole / DAY_MS);
    return `${dateOf(day)}T${timeOf(whole - day * DAY_MS)}Z`;
  };
}

function timeOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${clock}.${String(ms % 1000).padStart(3, '0')}`;
}
