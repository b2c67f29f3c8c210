import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { PatternOperator, Patterns } from './patterns.js';
import type { Computing } from './computed-values.js';
import type { Matcher } from './matcher.js';
import { createIsoTimes } from './sources/iso-times.js';
import type { SqlValue } from './sql.js';
import { codeUnits } from './text-order.js';

/** What the functions of a connection look up at the time of a call. */
export interface FunctionState {
  readonly patterns: Patterns;
  computing?: Computing | undefined;
  /** Throws when the statement that runs is to end. */
  look?: (() => void) | undefined;
  /** The error that a function threw, of which SQLite reports only the message. */
  thrown?: unknown;
}

/** What filters and sorts need beyond SQLite's own functions. */
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
  // Stands before conditions that take long, so that the time is looked at for each row.
  define('in_time', {}, () => 1);
  defineMatch(define, 'regex', state);
  defineMatch(define, 'glob', state);
  database.function('code_units', { deterministic: true }, (text: SqlValue) =>
    text === null ? null : codeUnits(String(text)),
  );
  defineDerivations(database);
  database.function('joined', { deterministic: true }, (list: string | null) =>
    list === null ? null : String(JSON.parse(list)),
  );
  define(
    'computed',
    {},
    (kind: string, field: string, record: string) => state.computing?.valueOf(kind, field, record) ?? null,
  );
}

type Define = (name: string, options: { deterministic?: boolean }, run: (...values: never[]) => SqlValue) => void;

/** What derived columns are made with. */
function defineDerivations(database: DatabaseSyncInstance): void {
  database.function('iso_time', { deterministic: true }, orNull(createIsoTimes()));
  database.function(
    'lower_case',
    { deterministic: true },
    orNull((text: string) => text.toLowerCase()),
  );
}

/** As of SQLite's own functions, of nothing comes nothing. */
function orNull<T>(make: (value: T) => string): (value: T | null) => string | null {
  return (value) => (value === null ? null : make(value));
}

/** Tests text; one statement tests many with one pattern, so the last is at hand. */
function defineMatch(define: Define, operator: PatternOperator, state: FunctionState): void {
  let last: { readonly pattern: string; readonly matches: Matcher } | undefined;
  define(`matches_${operator}`, { deterministic: true }, (pattern: string, text: SqlValue) => {
    if (typeof text !== 'string') return 0;
    if (last?.pattern !== pattern) last = { pattern, matches: state.patterns.get(operator, pattern) };
    return last.matches(text, state.look) ? 1 : 0;
  });
}
