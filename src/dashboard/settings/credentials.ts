import { randomUUID } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { type Caller, requireSession, requireUser } from '../../accounts/callers.js';
import type { components } from '../../generated/dashboard/types.js';
import { type Database, inTransaction } from '../../storage/database.js';
import type { ServerKey } from '../../storage/server-key.js';
import type { ForgeCredentialsTable } from '../../storage/tables.js';
import type { ForgeClients } from '../forges/forge-clients.js';
import { FORGE_ERROR_MESSAGES } from '../forges/forge-error.js';
import type { ForgeName } from '../forges/forge.js';
import { type ForgeStatus, readForgeStatus } from '../refresh/forge-status.js';
import { deleteCredentialData } from './credential-data.js';
import { listCredentialRows, toCredentialRow, toStoredCredential } from './credential-rows.js';
import { parseForgeUrl, type StoredCredential } from './forge-settings.js';
import { getOrCreateSettingsRow } from './settings-row.js';
import { inspectForge } from './test-connection.js';

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
