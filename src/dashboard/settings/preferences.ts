import { AppError } from '@trellis/core/errors';
import { type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import type { Database } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { SettingsTable } from '../../storage/tables.js';
import { findSettingsRow, getOrCreateSettingsRow } from './settings-row.js';

export type Theme = components['schemas']['Theme'];
type FilterState = components['schemas']['FilterState'];

/** The preferences that pages need before their first render. */
export interface ChosenPreferences {
  readonly theme: Theme;
  /** A name of the IANA time zone database, or an empty string for the default. */
  readonly timezone: string;
  readonly filterState: FilterState;
}

/** A user's preferences for the pages. */
export interface Preferences {
  /** @throws AppError `session_required` for a token. */
  readAll(caller: Caller | undefined): Promise<ChosenPreferences>;
  readTheme(caller: Caller | undefined): Promise<Theme>;
  saveTheme(caller: Caller | undefined, theme: Theme): Promise<void>;
  /** Returns a name of the IANA time zone database, or an empty string for the default. */
  readTimezone(caller: Caller | undefined): Promise<string>;
  /** @throws AppError `invalid_input` for a name that the IANA database lacks, such as `Local` or `+01:00`. */
  saveTimezone(caller: Caller | undefined, timezone: string): Promise<void>;
  /** @throws AppError `session_required` for a token. */
  readFilterState(caller: Caller | undefined): Promise<FilterState>;
  saveFilterState(caller: Caller | undefined, state: FilterState): Promise<void>;
}

export interface PreferencesOptions {
  readonly database: Database;
  readonly key: ServerKey;
}

export function createPreferences({ database, key }: PreferencesOptions): Preferences {
  const find = (caller: Caller | undefined) => findSettingsRow(database, requireUser(caller).personId);
  const save = async (caller: Caller | undefined, change: Partial<SettingsTable>): Promise<void> => {
    const { personId } = requireUser(caller);
    await getOrCreateSettingsRow(database, key, personId);
    await database.updateTable('settings').set(change).where('person_id', '=', personId).execute();
  };
  return {
    async readAll(caller) {
      const row = await find(requireSession(caller));
      return { theme: toTheme(row), timezone: toTimezone(row), filterState: toFilterState(row) };
    },
    readTheme: async (caller) => toTheme(await find(caller)),
    saveTheme: (caller, theme) => save(caller, { theme }),
    readTimezone: async (caller) => toTimezone(await find(caller)),
    async saveTimezone(caller, timezone) {
      assertTimezone(timezone);
      await save(caller, { timezone });
    },
    readFilterState: async (caller) => toFilterState(await find(requireSession(caller))),
    async saveFilterState(caller, state) {
      await save(requireSession(caller), { filter_state: JSON.stringify(state) });
    },
  };
}

type Row = Awaited<ReturnType<typeof findSettingsRow>>;

const toTheme = (row: Row): Theme => (row?.theme ?? '') as Theme;
const toTimezone = (row: Row): string => row?.timezone ?? '';
const toFilterState = (row: Row): FilterState => JSON.parse(row?.filter_state ?? '{}') as FilterState;

function assertTimezone(name: string): void {
  if (name === '' || isTimezone(name)) return;
  const message = `Expected timezone to be an IANA time zone such as Europe/Berlin, or empty; received "${name}".`;
  throw new AppError('invalid_input', message, { field: 'timezone' });
}

function isTimezone(name: string): boolean {
  try {
    // Newer Node releases also accept offsets such as +01:00, which are not names of the IANA database.
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}
