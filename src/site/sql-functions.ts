import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { PatternOperator, Patterns } from './patterns.js';
import type { Computing } from './computed-values.js';
import type { Meter } from './record-queries.js';
import type { Matcher } from './matcher.js';
import { createIsoTimes } from './sources/iso-times.js';
import type { SqlValue } from './sql.js';
import { codeUnits } from './text-order.js';

/** What the functions of a connection look up at the time of a call. */
export interface FunctionState {
  readonly patterns: Patterns;
  computing?: Computing | undefined;
  meter?: Meter | undefined;
}

/** What filters and sorts need beyond SQLite's own functions. */
export function defineFunctions(database: DatabaseSyncInstance, state: FunctionState): void {
  // True, as long as the one who asks has not been kept waiting too long.
  database.function('in_time', () => {
    state.meter?.check();
    return 1;
  });
  defineMatch(database, 'regex', state);
  defineMatch(database, 'glob', state);
  database.function('code_units', { deterministic: true }, (text: SqlValue) =>
    text === null ? null : codeUnits(String(text)),
  );
  defineDerivations(database);
  database.function('joined', { deterministic: true }, (list: string | null) =>
    list === null ? null : String(JSON.parse(list)),
  );
  database.function('computed', (kind: string, field: string, record: string) => {
    state.meter?.check();
    return state.computing?.valueOf(kind, field, record) ?? null;
  });
}

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
function defineMatch(database: DatabaseSyncInstance, operator: PatternOperator, state: FunctionState): void {
  let last: { readonly pattern: string; readonly matches: Matcher } | undefined;
  database.function(`matches_${operator}`, { deterministic: true }, (pattern: string, text: SqlValue) => {
    state.meter?.check();
    if (typeof text !== 'string') return 0;
    if (last?.pattern !== pattern) last = { pattern, matches: state.patterns.get(operator, pattern) };
    return last.matches(text) ? 1 : 0;
  });
}
