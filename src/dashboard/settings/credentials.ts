import { randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { ForgeCredentialsTable } from '../../storage/tables.js';
import { type ForgeClients, requireForge } from '../forges/forge-clients.js';
import {
  ALLOW_ADDRESS_HINT,
  explainAddress,
  FORGE_ERROR_MESSAGES,
  type ForgeErrorKind,
  toForgeError,
} from '../forges/forge-error.js';
import { type ForgeName, type Forge, FORGE_PRODUCT_NAMES } from '../forges/forge.js';
import { type ForgeStatus, readForgeStatus } from '../refresh/forge-status.js';
import {
  parseForgeUrl,
  type StoredCredential,
  listCredentialRows,
  toCredentialRow,
  toStoredCredential,
  getOrCreateSettingsRow,
} from './settings-rows.js';
import type { Settings } from './settings.js';

type Schemas = components['schemas'];
type Credential = Schemas['ForgeCredential'];

/** More than a user has accounts at code hosts. Each is read at every refresh. */
const MAX_CREDENTIALS = 20;

/** Further credentials of a user, beside the one of each forge in the settings. */
export interface Credentials {
  /** Lists credentials with their state as of the last refresh, the oldest first. */
  list(caller: Caller | undefined): Promise<Credential[]>;
  /**
   * Adds a credential, and starts to read its repositories.
   *
   * @throws AppError `session_required` for a token, `invalid_input` for an invalid URL, `conflict` if the caller has 20.
   */
  create(caller: Caller | undefined, request: Schemas['CreateForgeCredential']): Promise<Credential>;
  /** Changes a credential, but not its server. A blank token keeps the stored one. @throws AppError `not_found`. */
  save(caller: Caller | undefined, id: string, request: Schemas['SaveForgeCredential']): Promise<Credential>;
  /** Deletes a credential with its rows on the board. Does nothing for an unknown id. */
  delete(caller: Caller | undefined, id: string): Promise<void>;
  /** Contacts the forge. @throws AppError `not_found` for an unknown id. */
  test(caller: Caller | undefined, id: string): Promise<Schemas['ForgeTest']>;
}

interface CredentialsOptions {
  readonly database: Database;
  readonly key: ServerKey;
  readonly forges: Pick<ForgeClients, 'openCredential'>;
  /** Called after a change. `isMoved` if rows of the board have been deleted. */
  readonly onSaved: (personId: string, isMoved: boolean) => Promise<void>;
  readonly now: () => number;
}

export function createCredentials({ database, key, forges, onSaved, now }: CredentialsOptions): Credentials {
  async function show(personId: string, row: ForgeCredentialsTable): Promise<Credential> {
    const states = await readForgeStatus(database, personId);
    const counts = await countRepositories(database, personId);
    return toCredential(key, row, { state: states.get(row.id), repoCount: counts.get(row.id) ?? 0 });
  }
  return {
    async list(caller) {
      const { personId } = requireUser(caller);
      const rows = await listCredentialRows(database, personId);
      return Promise.all(rows.map((row) => show(personId, row)));
    },
    async create(caller, { forge, label, url = '', username = '', token }) {
      const { personId } = requireSession(caller);
      const credential = {
        ...toPlain({ label, username }),
        id: randomUUID(),
        forge,
        token: token.trim(),
        url: toUrl(forge, url),
      };
      const row = toCredentialRow(key, personId, { credential, at: now() });
      await inTransaction(database, async (transaction) => {
        await assertBelowLimit(transaction, personId);
        await markSettingsSaved(transaction, key, { personId, at: now() });
        await transaction.insertInto('forge_credentials').values(row).execute();
      });
      await onSaved(personId, false);
      return show(personId, row);
    },
    async save(caller, id, { label, username = '', token = '' }) {
      const { personId } = requireSession(caller);
      const row = await inTransaction(database, async (transaction) => {
        const before = await getRow(transaction, personId, id);
        const stored = toStoredCredential(key, before);
        const credential = { ...stored, ...toPlain({ label, username }), token: token.trim() || stored.token };
        const after = { ...toCredentialRow(key, personId, { credential, at: now() }), created_at: before.created_at };
        await transaction.updateTable('forge_credentials').set(after).where('id', '=', id).execute();
        return after;
      });
      await onSaved(personId, false);
      return show(personId, row);
    },
    async delete(caller, id) {
      const { personId } = requireSession(caller);
      const isDeleted = await inTransaction(database, async (transaction) => {
        const row = await findRow(transaction, personId, id);
        if (row === undefined) return false;
        await deleteCredentialData(transaction, personId, toStoredCredential(key, row));
        await transaction.deleteFrom('forge_credentials').where('id', '=', id).execute();
        return true;
      });
      if (isDeleted) await onSaved(personId, true);
    },
    async test(caller, id) {
      const row = await getRow(database, requireSession(caller).personId, id);
      return inspectForge(forges.openCredential(toStoredCredential(key, row)));
    },
  };
}

const toPlain = ({ label, username }: Pick<StoredCredential, 'label' | 'username'>) => {
  return { label: label.trim(), username: username.trim() };
};

/** @throws AppError `invalid_input` for an invalid URL, or a missing one: only GitHub has a default. */
function toUrl(forge: ForgeName, text: string): string {
  const url = parseForgeUrl(text, 'url');
  if (url !== '' || forge === 'github') return url;
  throw new AppError('invalid_input', `url is required for ${forge}.`, { field: 'url' });
}

function findRow(database: Database, personId: string, id: string): Promise<ForgeCredentialsTable | undefined> {
  const own = database.selectFrom('forge_credentials').selectAll().where('person_id', '=', personId);
  return own.where('id', '=', id).executeTakeFirst();
}

async function getRow(database: Database, personId: string, id: string): Promise<ForgeCredentialsTable> {
  const row = await findRow(database, personId, id);
  if (row === undefined) throw new AppError('not_found', 'Unknown forge credential.');
  return row;
}

async function assertBelowLimit(transaction: Database, personId: string): Promise<void> {
  if ((await listCredentialRows(transaction, personId)).length < MAX_CREDENTIALS) return;
  throw new AppError('conflict', `You have reached the limit of ${MAX_CREDENTIALS} credentials. Delete one first.`);
}

/** A board is read once its owner has saved settings. */
async function markSettingsSaved(
  transaction: Database,
  key: ServerKey,
  { personId, at }: { readonly personId: string; readonly at: number },
): Promise<void> {
  await getOrCreateSettingsRow(transaction, key, personId);
  const settings = transaction.updateTable('settings').set({ saved_at: at }).where('person_id', '=', personId);
  await settings.where('saved_at', 'is', null).execute();
}

async function countRepositories(database: Database, personId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await database
    .selectFrom('forge_readings')
    .select(({ fn }) => ['forge', fn.countAll<number>().as('count')] as const)
    .where('person_id', '=', personId)
    .where('yours_only', '=', 0)
    .groupBy('forge')
    .execute();
  return new Map(rows.map(({ forge, count }) => [forge, count]));
}

function toCredential(
  key: ServerKey,
  row: ForgeCredentialsTable,
  { state, repoCount }: { readonly state: ForgeStatus | undefined; readonly repoCount: number },
): Credential {
  const { id, forge, label, url, username } = toStoredCredential(key, row);
  const own = { id, forge, label, url, username, createdAt: toTime(row.created_at) };
  if (state === undefined) return { ...own, state: 'unread' };
  const { errorKind, readAt, expiresAt } = state;
  return {
    ...own,
    state: errorKind === undefined ? 'works' : 'failed',
    repoCount,
    ...(errorKind !== undefined && {
      errorKind,
      error: FORGE_ERROR_MESSAGES[errorKind],
      ...(readAt !== undefined && { staleSince: toTime(readAt) }),
    }),
    ...(expiresAt !== undefined && { expiresAt: toTime(expiresAt) }),
  };
}

const toTime = (milliseconds: number): string => new Date(milliseconds).toISOString();

type ForgeTest = components['schemas']['ForgeTest'];
type ForgeTestRequest = components['schemas']['ForgeTestRequest'];

/** More specific than the general messages, because the user can fix the settings right away. */
const toMessages = (product: string): Readonly<Record<ForgeErrorKind, string>> => ({
  unreachable: 'No response from this address, or an internal error there.',
  unauthorized: 'The token was rejected. It may be mistyped, expired or revoked, or lack a permission.',
  not_found: `This address does not respond like ${product}, or the username does not exist there.`,
  rate_limited: `The rate limit of ${product} is exceeded. Try again after it resets.`,
  conflict: `This address does not respond like ${product}.`,
  address_refused: `This address is in a private or reserved range. ${ALLOW_ADDRESS_HINT}`,
  unknown: `This address does not respond like ${product}.`,
});

const MISSING_PERMISSIONS = 'The token is valid, but lacks the permissions to read a board.';

export type ForgeConnectionTest = (caller: Caller | undefined, request: ForgeTestRequest) => Promise<ForgeTest>;

/**
 * Creates a function that tests a forge with settings that are not saved yet.
 *
 * @throws AppError `invalid_input` if the settings have no credential for the forge, else as saving them.
 */
export function createForgeConnectionTest(
  settings: Pick<Settings, 'preview'>,
  forges: Pick<ForgeClients, 'open'>,
): ForgeConnectionTest {
  return async (caller, { forge: name, settings: request }) => {
    return inspectForge(requireForge(forges.open(await settings.preview(caller, request)), name, 'settings'));
  };
}

/** Contacts a forge. Its errors are part of the result. */
async function inspectForge(forge: Forge): Promise<ForgeTest> {
  const { name } = forge;
  try {
    const { username, repositories, missing, expiresAt } = await forge.inspect();
    const found = {
      forge: name,
      missing: [...missing],
      ...(username === undefined ? {} : { username }),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    };
    if (repositories === undefined)
      return { ...found, works: false, errorKind: 'unauthorized', error: MISSING_PERMISSIONS };
    return { ...found, works: true, repoCount: repositories.length };
  } catch (error) {
    const failure = toForgeError(error);
    const { kind } = failure;
    return {
      forge: name,
      works: false,
      missing: [],
      errorKind: kind,
      error: explainAddress(failure) ?? toMessages(FORGE_PRODUCT_NAMES[name])[kind],
    };
  }
}

/** The tables with local state that is keyed by the kind of forge and the name of the repository. */
const STATE_TABLES = ['repository_marks', 'pull_request_marks', 'action_attempts', 'snoozes'] as const;

/**
 * Deletes the snapshots and the status of a credential, and the local state of repositories that no other credential
 * reads: a repository of the same name at a different server must not inherit it.
 */
async function deleteCredentialData(
  transaction: Database,
  personId: string,
  { id, forge }: Pick<StoredCredential, 'forge' | 'id'>,
): Promise<void> {
  const own = await listNames(transaction, personId, [id]);
  const others = transaction.selectFrom('forge_credentials').select('id').where('person_id', '=', personId);
  const rows = await others.where('forge', '=', forge).where('id', '!=', id).execute();
  const kept = await listNames(transaction, personId, [forge, ...rows.map((row) => row.id)]);
  const removed = [...own].filter((name) => !kept.has(name));
  for (let start = 0; start < removed.length; start += NAMES_PER_STATEMENT) {
    const names = removed.slice(start, start + NAMES_PER_STATEMENT);
    for (const table of STATE_TABLES) {
      const state = transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', '=', forge);
      await state.where('repo', 'in', names).execute();
    }
  }
  for (const table of ['forge_readings', 'forge_states'] as const) {
    await transaction.deleteFrom(table).where('person_id', '=', personId).where('forge', '=', id).execute();
  }
}

/** Far below the number of parameters that the databases allow. */
const NAMES_PER_STATEMENT = 500;

/** Lists the names of the repositories that credentials read, in lower case like those of local state. */
async function listNames(database: Database, personId: string, connections: readonly string[]): Promise<Set<string>> {
  const rows = await database
    .selectFrom('forge_readings')
    .select('full_name')
    .where('person_id', '=', personId)
    .where('forge', 'in', connections)
    .execute();
  return new Set(rows.map(({ full_name }) => full_name.toLowerCase()));
}
