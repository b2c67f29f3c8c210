import { AppError } from '@trellis/core/errors';
import { type Caller, requireUser, type UserCaller, requireSession } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { SettingsTable } from '../../storage/tables.js';
import type { ForgeName } from '../forges/forge.js';
import { toGithubApiUrl } from '../forges/github/requests.js';
import {
  type ForgeSettings,
  mergeForgeSettings,
  type SettingsRequest,
  listStoredCredentials,
  decryptForgeSettings,
  decryptWebhook,
  encryptForgeSettings,
  findSettingsRow,
  getOrCreateSettingsRow,
} from './settings-rows.js';

type SettingsView = components['schemas']['Settings'];

/** Users' forge settings. */
export interface Settings {
  /**
   * Returns the caller's settings without their tokens, and without the webhook's token and secret unless the caller is
   * a session or a token with write scope: they are enough to sign deliveries. The first call creates both.
   */
  read(caller: Caller | undefined): Promise<SettingsView>;
  /**
   * Saves the caller's settings.
   *
   * @throws AppError `invalid_input` as {@link mergeForgeSettings}, `forbidden` if a caller who is not an admin changes
   * the installation.
   */
  save(caller: Caller | undefined, request: SettingsRequest): Promise<SettingsView>;
  /** Returns the settings that `save` would store, tokens included, without saving. @throws AppError as `save`. */
  preview(caller: Caller | undefined, request: SettingsRequest): Promise<ForgeSettings>;
  /** Returns a user's settings, tokens included; `undefined` if the user has never saved any. */
  findForges(personId: string): Promise<ForgeSettings | undefined>;
}

interface SettingsOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly now?: () => number;
  /** Whether a GitHub App is configured for this server. */
  readonly hasGithubApp?: boolean;
  /** Called after settings were saved, with the forges whose URL changed. The data of those forges has been deleted. */
  readonly onSaved?: (personId: string, moved: readonly ForgeName[]) => Promise<void>;
}

interface Change {
  readonly request: SettingsRequest;
  readonly isAdmin: boolean;
}

export function createSettings(options: SettingsOptions): Settings {
  const { database, key, now = Date.now, hasGithubApp = false, onSaved } = options;
  const show = (row: SettingsTable, caller: UserCaller): SettingsView => ({
    ...toView(key, row),
    ...(mayWrite(caller) ? toWebhookView(key, row) : {}),
    githubAppConfigured: hasGithubApp,
  });
  const merge = (row: SettingsTable, { request, isAdmin }: Change) => {
    const stored = decryptForgeSettings(key, row);
    const merged = mergeForgeSettings(stored, request);
    if (!isAdmin) assertSameInstallation(stored, merged);
    return { stored, merged };
  };
  return {
    async read(caller) {
      const user = requireUser(caller);
      return show(await getOrCreateSettingsRow(database, key, user.personId), user);
    },
    async save(caller, request) {
      const user = requireUser(caller);
      const { personId, isAdmin } = user;
      const { view, moved } = await inTransaction(database, async (transaction) => {
        const row = await getOrCreateSettingsRow(transaction, key, personId);
        const { stored, merged } = merge(row, { request, isAdmin });
        const change = { saved_at: now(), forges: encryptForgeSettings(key, personId, merged) };
        await transaction.updateTable('settings').set(change).where('person_id', '=', personId).execute();
        const changedForges = findForgesWithNewUrl(stored, merged);
        await deleteForgeData(transaction, personId, changedForges);
        return { view: show({ ...row, ...change }, user), moved: changedForges };
      });
      await onSaved?.(personId, moved);
      return view;
    },
    async preview(caller, request) {
      const { personId, isAdmin } = requireUser(caller);
      return merge(await getOrCreateSettingsRow(database, key, personId), { request, isAdmin }).merged;
    },
    async findForges(personId) {
      const row = await findSettingsRow(database, personId);
      if (row?.saved_at == null) return undefined;
      return { ...decryptForgeSettings(key, row), credentials: await listStoredCredentials(database, key, personId) };
    },
  };
}

/** An installation can read every repository that it was installed for, and nothing links it to a user. */
function assertSameInstallation(stored: ForgeSettings, merged: ForgeSettings): void {
  const { githubAppInstallationId: id } = merged;
  if (id === 0 || id === stored.githubAppInstallationId) return;
  const message = "Only admins can set an installation of the server's GitHub App.";
  throw new AppError('forbidden', message, { field: 'githubAppInstallationId' });
}

const mayWrite = (caller: UserCaller): boolean => caller.kind === 'session' || caller.scopes.includes('write');

function toWebhookView(key: ServerKey, row: SettingsTable): Pick<SettingsView, 'webhookSecret' | 'webhookToken'> {
  const { token: webhookToken, secret: webhookSecret } = decryptWebhook(key, row);
  return { webhookToken, webhookSecret };
}

function toView(key: ServerKey, row: SettingsTable): Omit<SettingsView, 'githubAppConfigured'> {
  const { githubToken, forgejoToken, gitlabToken, ...shown } = decryptForgeSettings(key, row);
  return {
    ...shown,
    githubTokenSet: githubToken !== '',
    forgejoTokenSet: forgejoToken !== '',
    gitlabTokenSet: gitlabToken !== '',
    // The cast is safe: only values of the contract are saved.
    theme: row.theme as SettingsView['theme'],
    ...(row.timezone === '' ? {} : { timezone: row.timezone }),
  };
}

/** Returns the forges whose URL differs between two settings. A forge that had no URL before is not included. */
export function findForgesWithNewUrl(before: ForgeSettings, after: ForgeSettings): ForgeName[] {
  const moved: ForgeName[] = [];
  if (toGithubApiUrl(before.githubUrl) !== toGithubApiUrl(after.githubUrl)) moved.push('github');
  if (before.forgejoUrl !== '' && before.forgejoUrl !== after.forgejoUrl) moved.push('forgejo');
  if (before.gitlabUrl !== '' && before.gitlabUrl !== after.gitlabUrl) moved.push('gitlab');
  return moved;
}

const FORGE_TABLES = [
  'forge_readings',
  'forge_states',
  'repository_marks',
  'pull_request_marks',
  'action_attempts',
  'snoozes',
] as const;

/**
 * Deletes the user's snapshots, local state, snoozes and pending actions of forges. After a change of the URL, the data
 * of the old server must not be mistaken for data of the new one.
 */
async function deleteForgeData(database: Database, personId: string, forges: readonly ForgeName[]): Promise<void> {
  if (forges.length === 0) return;
  for (const table of FORGE_TABLES) {
    await database.deleteFrom(table).where('person_id', '=', personId).where('forge', 'in', forges).execute();
  }
}

type Theme = components['schemas']['Theme'];
type FilterState = components['schemas']['FilterState'];

/** The preferences that pages need before their first render. */
interface ChosenPreferences {
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

interface PreferencesOptions {
  readonly database: Database;
  readonly key: ServerKey;
  /** Called in the transaction that saves a new time zone. */
  readonly onNewTimezone: (transaction: Database, personId: string) => Promise<void>;
}

export function createPreferences({ database, key, onNewTimezone }: PreferencesOptions): Preferences {
  const find = (caller: Caller | undefined) => findSettingsRow(database, requireUser(caller).personId);
  const save = async (caller: Caller | undefined, change: Partial<SettingsTable>): Promise<void> => {
    const { personId } = requireUser(caller);
    await inTransaction(database, async (transaction) => {
      const { timezone } = await getOrCreateSettingsRow(transaction, key, personId);
      await transaction.updateTable('settings').set(change).where('person_id', '=', personId).execute();
      if (change.timezone !== undefined && change.timezone !== timezone) await onNewTimezone(transaction, personId);
    });
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
