import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { Matcher } from '../patterns/compile-glob.js';
import type { PatternCache, PatternOperator } from '../patterns/pattern-cache.js';
import { createIsoTimes } from '../records/iso-times.js';
import { type SqlValue, toCodeUnits } from '../records/sql.js';
import type { ComputedValueLoader } from './computed-values.js';
import type { SearchPlaces } from './search.js';

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

/** Defines the functions of virtual columns. */
function defineDerivations(database: DatabaseSyncInstance): void {
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
