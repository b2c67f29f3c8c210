/** Tokens for command lines: the requests that the owner approves (RFC 8628), and operations for a token's holder. */
import { hash, randomBytes, randomInt } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import type { ServiceTokens } from '../accounts/bearer-tokens.js';
import {
  assertSessionOpen,
  type Caller,
  type Permission,
  requireAdminSession,
  type TokenAccess,
  ALL_PERMISSIONS,
  parseAccess,
} from '../accounts/callers.js';
import type { SignIn } from '../accounts/sign-in.js';
import { type Database, inTransaction } from '../storage/database.js';
import type { DeviceLoginsTable } from '../storage/tables.js';
import { appendAuditEntry, type RequestOrigin } from './audit/chain.js';
import { mintToken, TOKEN_SUBJECT_TYPES } from './service-tokens.js';

export interface DeviceLogins {
  /** Opens a request. @throws AppError `unavailable` at a limit of open requests. */
  begin(origin: RequestOrigin, request: DeviceLoginRequest): Promise<DeviceCodes | DeviceLoginError>;
  /** Fetches the token of an approved request, once. */
  poll(origin: RequestOrigin, claim: DeviceLoginClaim): Promise<DeviceLoginError | DeviceToken>;
  /** Returns an open request. It requires the owner's session, as do the next two. @throws AppError `not_found`. */
  get(origin: RequestOrigin, userCode: string): Promise<DeviceLogin>;
  /**
   * Creates the token, which the device fetches by its next poll.
   *
   * @throws AppError `not_found`; `invalid_input` for a passkey that does not confirm it, and for an invalid token.
   */
  approve(origin: RequestOrigin, userCode: string, approval: DeviceLoginApproval): Promise<void>;
  /** @throws AppError `not_found`. */
  deny(origin: RequestOrigin, userCode: string): Promise<void>;
}

interface DeviceLoginRequest {
  readonly clientId: string;
  /** The requested permissions, separated by spaces. */
  readonly scope?: string;
  readonly deviceName?: string;
}

interface DeviceLoginClaim {
  readonly grantType: string;
  readonly deviceCode: string;
  readonly clientId: string;
}

interface DeviceCodes {
  readonly deviceCode: string;
  readonly userCode: string;
  /** The address of the page. */
  readonly verificationUri: string;
  /** In seconds, as the next one. */
  readonly expiresIn: number;
  readonly interval: number;
}

interface DeviceToken {
  readonly token: string;
  readonly expiresIn: number;
  readonly permissions: readonly Permission[];
}

interface DeviceLogin {
  readonly deviceName: string | undefined;
  readonly address: string;
  readonly permissions: readonly Permission[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

interface DeviceLoginApproval {
  readonly description: string;
  readonly ttlSeconds?: number;
  readonly access: TokenAccess;
  /** The response of the browser, not yet validated. */
  readonly credential: unknown;
}

/** An error of RFC 6749 or RFC 8628, which the client expects with status 400. */
export interface DeviceLoginError {
  readonly error: keyof typeof ERRORS;
  readonly description: string;
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

const ERRORS = {
  access_denied: 'The owner denied the request.',
  authorization_pending: 'The owner has not decided yet.',
  expired_token: 'The code has expired.',
  invalid_grant: 'The code is unknown, or its token was fetched.',
  invalid_scope: `The scope has a permission other than ${ALL_PERMISSIONS.join(', ')}.`,
  slow_down: 'Wait for the interval between two polls.',
  unsupported_grant_type: 'Only the grant type of RFC 8628 is supported.',
} as const;

const toError = (error: keyof typeof ERRORS): DeviceLoginError => ({ error, description: ERRORS[error] });

interface DeviceLoginsDependencies {
  readonly store: ServiceTokens;
  readonly signIn: Pick<SignIn, 'confirm'>;
  readonly origin: () => string;
  /** Returns the key by which the requests of an address are counted. */
  readonly toAddressKey: (address: string) => string;
}

/** Time to sign in and to read the page. */
const LIFETIME_MS = 600_000;

/** The default of RFC 8628, and the step by which `slow_down` increases it. */
const INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 60_000;

const MAX_OPEN = 1_000;
const MAX_OPEN_OF_ADDRESS = 20;

const DAY_SECONDS = 86_400;
const DEFAULT_TTL_SECONDS = 30 * DAY_SECONDS;
const MAX_TTL_SECONDS = 90 * DAY_SECONDS;

export function createDeviceLogins(
  database: Database,
  { store, signIn, origin: siteOrigin, toAddressKey }: DeviceLoginsDependencies,
): DeviceLogins {
  return {
    async begin({ ip, at }, { clientId, scope, deviceName }) {
      const permissions = parseScope(scope);
      if (permissions === undefined) return toError('invalid_scope');
      const [deviceCode, userCode] = [randomBytes(32).toString('base64url'), createUserCode()];
      const row: DeviceLoginsTable = {
        ...{ device_hash: hash('sha256', deviceCode), user_hash: hashUserCode(userCode), client_id: clientId },
        device_name: toPlainText(deviceName),
        ...{ address: ip, permissions: permissions.join(' '), created_at: at, expires_at: at + LIFETIME_MS },
        ...{
          interval_ms: INTERVAL_MS,
          next_poll_at: at + INTERVAL_MS,
          decision: null,
          token_id: null,
          ttl_seconds: null,
        },
      };
      await inTransaction(database, async (transaction) => {
        await deleteExpiredDeviceLogins(transaction, at);
        const open = await listOpenAddresses(transaction, at);
        assertBelowLimits(open.map(toAddressKey), toAddressKey(ip));
        await transaction.insertInto('device_logins').values(row).execute();
      });
      const [expiresIn, interval] = [LIFETIME_MS / 1_000, INTERVAL_MS / 1_000];
      return { deviceCode, userCode, verificationUri: `${siteOrigin()}/vault/device`, expiresIn, interval };
    },
    async poll(origin, { grantType, deviceCode, clientId }) {
      if (grantType !== GRANT_TYPE) return toError('unsupported_grant_type');
      const id = hash('sha256', deviceCode);
      const outcome = await inTransaction(database, async (transaction) => {
        const rows = transaction.selectFrom('device_logins').selectAll().where('device_hash', '=', id);
        const row = await rows.where('client_id', '=', clientId).executeTakeFirst();
        return row === undefined ? 'invalid_grant' : pollLogin(transaction, { row, origin, store });
      });
      return typeof outcome === 'string' ? toError(outcome) : outcome;
    },
    async get({ caller, at }, userCode) {
      requireAdminSession(caller);
      return toLogin(await getOpen(database, userCode, at));
    },
    async approve(origin, userCode, { description, ttlSeconds = DEFAULT_TTL_SECONDS, access, credential }) {
      const caller = requireAdminSession(origin.caller);
      const { device_hash: id, ...row } = await getOpen(database, userCode, origin.at);
      if (access.permissions === undefined) throw invalid('access.permissions', 'present');
      if (ttlSeconds < 60 || ttlSeconds > MAX_TTL_SECONDS) throw invalid('ttl_seconds', `60 to ${MAX_TTL_SECONDS}`);
      await signIn.confirm(caller, credential);
      await inTransaction(database, async (transaction) => {
        await assertSessionOpen(transaction, caller);
        const { id: tokenId } = await mintToken(
          transaction,
          { kind: 'write', store, personId: caller.personId, issuedBy: 'admin' },
          // The value is replaced when the device fetches it; until then, the token ends with the codes.
          { description, access, expiresAt: new Date(row.expires_at), detail: toDetail(row), origin },
        );
        await decide(transaction, id, { decision: 'approved', token_id: tokenId, ttl_seconds: ttlSeconds });
      });
    },
    async deny(origin, userCode) {
      requireAdminSession(origin.caller);
      const { device_hash: id, ...row } = await getOpen(database, userCode, origin.at);
      await inTransaction(database, async (transaction) => {
        await decide(transaction, id, { decision: 'denied' });
        const detail = { reason: 'access_denied', count: 1, ...toDetail(row) };
        const entry = { action: 'denied', subjectType: 'request', subjectId: 'beginDeviceLogin', detail } as const;
        await appendAuditEntry(transaction, entry, origin);
      });
    },
  };
}

/** Consonants of which no word can be formed, as RFC 8628 recommends in section 6.1: 8 of them have 34 bits. */
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

function createUserCode(): string {
  const letters = Array.from({ length: 8 }, () => USER_CODE_LETTERS.charAt(randomInt(USER_CODE_LETTERS.length)));
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
}

/** Ignores case and everything that is not a letter. */
const hashUserCode = (code: string): string => hash('sha256', code.toUpperCase().replace(/[^A-Z]/g, ''));

/** @returns `undefined` for an unknown permission. */
function parseScope(scope = ''): readonly Permission[] | undefined {
  const names = scope.split(' ').filter((name) => name !== '');
  if (names.length === 0) return ['list', 'read', 'write'];
  if (names.some((name) => !ALL_PERMISSIONS.some((known) => known === name))) return undefined;
  return ALL_PERMISSIONS.filter((known) => names.includes(known));
}

/** Control and format characters could make a name look like a different one. */
const toPlainText = (text = ''): string | null => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim() || null;

/** Lists the address of each open request. Expired requests stay for a while, so that polls get their error. */
async function listOpenAddresses(transaction: Database, at: number): Promise<string[]> {
  const rows = await transaction.selectFrom('device_logins').select('address').where('expires_at', '>', at).execute();
  return rows.map(({ address }) => address);
}

function assertBelowLimits(open: readonly string[], own: string): void {
  if (open.length < MAX_OPEN && open.filter((key) => key === own).length < MAX_OPEN_OF_ADDRESS) return;
  throw new AppError('unavailable', 'Too many requests for tokens are open. Try again in 10 minutes.');
}

interface Poll {
  readonly row: DeviceLoginsTable;
  readonly origin: RequestOrigin;
  readonly store: ServiceTokens;
}

async function pollLogin(
  transaction: Database,
  { row, origin, store }: Poll,
): Promise<DeviceLoginError['error'] | DeviceToken> {
  const { device_hash: id, decision, interval_ms: interval, token_id: tokenId, ttl_seconds: ttl } = row;
  const { at } = origin;
  if (row.expires_at <= at) return 'expired_token';
  const isEarly = at < row.next_poll_at;
  if (isEarly || decision === null) {
    const next = isEarly ? Math.min(interval + INTERVAL_MS, MAX_INTERVAL_MS) : interval;
    const logins = transaction.updateTable('device_logins').where('device_hash', '=', id);
    await logins.set({ interval_ms: next, next_poll_at: at + next }).execute();
    return isEarly ? 'slow_down' : 'authorization_pending';
  }
  const claimed = transaction.deleteFrom('device_logins').where('device_hash', '=', id).returning('device_hash');
  if ((await claimed.executeTakeFirst()) === undefined) return 'invalid_grant';
  if (tokenId === null || ttl === null) return 'access_denied';
  const expiresAt = new Date(at + ttl * 1_000);
  const renewed = await store.renew(transaction, { kind: 'write', id: tokenId, at }, expiresAt);
  // The owner has revoked it in the meantime.
  if (renewed === undefined) return 'access_denied';
  const entry = { action: 'rotate', subjectType: 'token', subjectId: tokenId, detail: toDetail(row) } as const;
  await appendAuditEntry(transaction, entry, { ...origin, caller: undefined });
  const permissions = parseAccess(renewed.row.access)?.permissions ?? ALL_PERMISSIONS;
  return { token: renewed.token, expiresIn: ttl, permissions };
}

async function getOpen(database: Database, userCode: string, at: number): Promise<DeviceLoginsTable> {
  const logins = database.selectFrom('device_logins').selectAll().where('user_hash', '=', hashUserCode(userCode));
  const row = await logins.where('expires_at', '>', at).where('decision', 'is', null).executeTakeFirst();
  if (row === undefined) throw notOpen();
  return row;
}

type Decision = Partial<Pick<DeviceLoginsTable, 'token_id' | 'ttl_seconds'>> & { decision: 'approved' | 'denied' };

async function decide(transaction: Database, id: string, decision: Decision): Promise<void> {
  const logins = transaction.updateTable('device_logins').set(decision).where('device_hash', '=', id);
  const decided = await logins.where('decision', 'is', null).returning('device_hash').executeTakeFirst();
  if (decided === undefined) throw notOpen();
}

const notOpen = (): AppError =>
  new AppError('not_found', 'No open request has this code. Check it, or start the command again.');

const toDetail = ({ device_name: device, address }: Pick<DeviceLoginsTable, 'address' | 'device_name'>) => ({
  ...(device !== null && { device }),
  deviceAddress: address,
});

const toLogin = (row: DeviceLoginsTable): DeviceLogin => ({
  deviceName: row.device_name ?? undefined,
  address: row.address,
  permissions: row.permissions.split(' ') as Permission[],
  createdAt: new Date(row.created_at),
  expiresAt: new Date(row.expires_at),
});

function invalid(field: string, expected: string): AppError {
  return new AppError('invalid_input', `Expected ${field} to be ${expected}.`, { field });
}

/** Deletes requests whose codes have expired. */
export async function deleteExpiredDeviceLogins(database: Database, at: number): Promise<void> {
  await database
    .deleteFrom('device_logins')
    .where('expires_at', '<=', at - LIFETIME_MS)
    .execute();
}

/** A credential, as its holder sees it. */
export interface OwnToken {
  readonly kind: 'consumer' | 'session' | 'write';
  /** Absent for a session, as all that follows. */
  readonly id?: string;
  readonly description?: string;
  readonly consumer?: string;
  readonly expiresAt?: Date;
  readonly access?: TokenAccess;
}

export interface OwnTokens {
  /** @throws AppError `unauthenticated` without a caller. */
  get(caller: Caller | undefined): Promise<OwnToken>;
  /** Revokes an active token; ignores other texts. */
  revoke(origin: RequestOrigin, token: string): Promise<void>;
}

export function createOwnTokens(database: Database, store: ServiceTokens): OwnTokens {
  return {
    async get(caller) {
      if (caller === undefined) throw new AppError('unauthenticated', 'This operation requires a credential.');
      if (caller.kind === 'session') return { kind: 'session' };
      const tokens = database.selectFrom('tokens').selectAll().where('id', '=', caller.tokenId);
      const row = await tokens.executeTakeFirstOrThrow();
      return {
        kind: caller.kind === 'token' ? 'write' : 'consumer',
        ...{ id: row.id, description: row.label, expiresAt: new Date(row.expires_at) },
        consumer: row.consumer ?? undefined,
        access: parseAccess(row.access),
      };
    },
    async revoke(origin, token) {
      await inTransaction(database, async (transaction) => {
        const tokens = transaction
          .selectFrom('tokens')
          .select(['id', 'kind'])
          .where('hash', '=', hash('sha256', token));
        const { id, kind } = (await tokens.executeTakeFirst()) ?? {};
        if (id === undefined || kind === undefined || kind === 'personal') return;
        if (!(await store.revoke(transaction, { kind, id, at: origin.at }))) return;
        const entry = { action: 'revoke', subjectType: TOKEN_SUBJECT_TYPES[kind], subjectId: id } as const;
        const caller = { kind: kind === 'write' ? 'token' : 'consumer_token', tokenId: id } as const;
        await appendAuditEntry(transaction, entry, { ...origin, caller });
      });
    },
  };
}
