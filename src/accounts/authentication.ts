import { hash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { nameBrowser } from '@trellis/core/browser-name';
import { AppError } from '@trellis/core/errors';
import { type Database, inTransaction } from '../storage/database.js';
import { prepare } from '../storage/prepared.js';
import type { SessionsTable } from '../storage/tables.js';
import { createTokenCallers, type TokenKind } from './bearer-tokens.js';
import { type Caller, invalidCredential, requireSession, type SessionCaller } from './callers.js';
import { recordEvent } from './events.js';

interface AuthenticatorOptions {
  readonly database: Database;
  readonly sessions: Sessions;
  /** The public origin. It determines the name of the cookie and which requests are same-origin. */
  readonly publicUrl: string;
  /** The kinds of token that the service accepts. */
  readonly tokens: readonly TokenKind[];
  /** Returns the IP address of the client; without it, tokens that are restricted to some addresses are rejected. */
  readonly addressOf?: (request: CredentialSource) => string;
  readonly now?: () => number;
}

/** The parts of a request that contain its credential. */
export interface CredentialSource {
  readonly method?: string;
  readonly headers: IncomingHttpHeaders;
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Creates a function that finds the caller of a request. A request with an `Authorization` header is authenticated by
 * that header alone, otherwise by its session cookie.
 *
 * The function returns `undefined` for a request without a credential. It throws `unauthenticated` for an invalid
 * credential, `forbidden` for a token that must not be used from the address, and `cross_site` for an unsafe request of
 * another site, and for one with a cookie that does not name its site.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
): (request: CredentialSource) => Promise<Caller | undefined> {
  const { database, sessions, tokens: kinds, addressOf = () => '', now = Date.now } = options;
  const { origin, protocol } = new URL(options.publicUrl);
  const findTokenCaller = createTokenCallers(database, kinds);
  const cookieName = sessionCookieName({ isHttps: protocol === 'https:' });

  return async (request) => {
    const { authorization, cookie = '' } = request.headers;
    if (authorization !== undefined) {
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
      return requireCaller(await findTokenCaller(token, { at: now(), address: addressOf(request) }), INVALID_TOKEN);
    }
    const id = findCookie(cookie, cookieName);
    requireSameOrigin(request, { ownOrigin: origin, hasCookie: id !== undefined });
    if (id === undefined) return undefined;
    return requireCaller(await sessions.findCaller(id));
  };
}

/** The challenge of RFC 6750 that tells an invalid token from a missing credential. */
const INVALID_TOKEN = 'Bearer error="invalid_token"';

function requireCaller(caller: Caller | undefined, challenge?: string): Caller {
  if (caller !== undefined) return caller;
  throw invalidCredential(challenge);
}

interface Expected {
  readonly ownOrigin: string;
  readonly hasCookie: boolean;
}

/** A request without the cookie is checked too, as its response may replace the cookie. */
function requireSameOrigin({ method = '', headers }: CredentialSource, { ownOrigin, hasCookie }: Expected): void {
  if (SAFE_METHODS.includes(method)) return;
  const site = headers['sec-fetch-site'];
  if (!hasCookie && (site ?? headers.origin) === undefined) return;
  // Older browsers send only Origin; a client that sends neither can send a token instead.
  if (site === undefined ? headers.origin === ownOrigin : site === 'same-origin') return;
  throw new AppError('cross_site', 'Cross-site request blocked.');
}

const DAY_MS = 86_400_000;
const LIFETIME_MS = 30 * DAY_MS;

/** The limit from the start of a session, however often it is used, so that a stolen cookie expires. */
const MAX_LIFETIME_MS = 90 * DAY_MS;

/** The minimum time between two writes that record the use of a session and extend it. */
const RENEW_AFTER_MS = 3_600_000;

export interface Sessions {
  /** Starts a session. @returns the secret id for the cookie; only its hash is stored. */
  start(personId: string, userAgent?: string): Promise<string>;
  /**
   * Finds the user of a session, and extends the session by 30 days, to at most 90 days after its start. Use is recorded
   * at most once an hour.
   */
  findCaller(id: string): Promise<SessionCaller | undefined>;
  /** Ends the caller's session. Does nothing without a session. */
  signOut(caller: Caller | undefined, from: string): Promise<void>;
  /**
   * Ends all sessions of the caller, including the current one. Tokens stay valid.
   *
   * @throws AppError `session_required` for a token.
   */
  signOutEverywhere(caller: Caller | undefined, from: string): Promise<void>;
  /**
   * Lists the sessions of the caller: the current one, then the newest first, at most 100.
   *
   * @throws AppError `session_required` for a token.
   */
  list(caller: Caller | undefined): Promise<Session[]>;
  /**
   * Ends a session of the caller by its listed id. Does nothing if the caller has no such session.
   *
   * @throws AppError `session_required` for a token.
   */
  end(caller: Caller | undefined, id: string, from: string): Promise<void>;
  /**
   * Ends all sessions of the caller except the current one. Tokens stay valid.
   *
   * @throws AppError `session_required` for a token.
   */
  endOthers(caller: Caller | undefined, from: string): Promise<void>;
}

/** A session as its user sees it. */
export interface Session {
  /** Identifies the session in the list; useless as a cookie. */
  readonly id: string;
  /** Browser and operating system; `undefined` for sessions that earlier releases started. */
  readonly browser: string | undefined;
  readonly createdAt: Date;
  /** Exact to the hour; `undefined` if it is unknown. */
  readonly lastUsedAt: Date | undefined;
  readonly expiresAt: Date;
  readonly isCurrent: boolean;
}

export function createSessions(database: Database, now: () => number = Date.now): Sessions {
  return {
    start: (personId, userAgent) => startSession(database, { personId, userAgent, at: now() }),
    findCaller: (id) => findCaller(database, hash('sha256', id), now()),
    async signOut(caller, from) {
      if (caller?.kind !== 'session') return;
      const { personId, sessionId } = caller;
      await inTransaction(database, async (transaction) => {
        await transaction.deleteFrom('sessions').where('id_hash', '=', sessionId).execute();
        await recordEvent(transaction, { action: 'signed_out', actor: caller, personId, from, at: now() });
      });
    },
    async signOutEverywhere(caller, from) {
      const session = requireSession(caller);
      const { personId } = session;
      await inTransaction(database, async (transaction) => {
        await transaction.deleteFrom('sessions').where('person_id', '=', personId).execute();
        await recordEvent(transaction, { action: 'signed_out_everywhere', actor: session, personId, from, at: now() });
      });
    },
    list: (caller) => listSessions(database, requireSession(caller), now()),
    async end(caller, id, from) {
      const session = requireSession(caller);
      const { personId } = session;
      await inTransaction(database, async (transaction) => {
        const own = await transaction
          .selectFrom('sessions')
          .select('id_hash')
          .where('person_id', '=', personId)
          .execute();
        const row = own.find(({ id_hash }) => toListedId(id_hash) === id);
        if (row === undefined) return;
        await transaction.deleteFrom('sessions').where('id_hash', '=', row.id_hash).execute();
        await recordEvent(transaction, { action: 'session_ended', actor: session, personId, from, at: now() });
      });
    },
    async endOthers(caller, from) {
      const session = requireSession(caller);
      const { personId, sessionId } = session;
      await inTransaction(database, async (transaction) => {
        const own = transaction.deleteFrom('sessions').where('person_id', '=', personId);
        await own.where('id_hash', '!=', sessionId).execute();
        await recordEvent(transaction, { action: 'other_sessions_ended', actor: session, personId, from, at: now() });
      });
    },
  };
}

const MAX_LISTED = 100;

async function listSessions(
  database: Database,
  { personId, sessionId }: SessionCaller,
  at: number,
): Promise<Session[]> {
  const open = database.selectFrom('sessions').selectAll().where('expires_at', '>', at);
  const own = open.where('person_id', '=', personId);
  const current = await own.where('id_hash', '=', sessionId).execute();
  const others = await own
    .where('id_hash', '!=', sessionId)
    // Earlier releases extended sessions without a limit.
    .where('created_at', '>', at - MAX_LIFETIME_MS)
    .orderBy('created_at', 'desc')
    .orderBy('id_hash')
    .limit(MAX_LISTED - current.length)
    .execute();
  return [...current, ...others].map((row) => toSession(row, sessionId));
}

function toSession({ id_hash, browser, last_used_at, ...row }: SessionsTable, currentId: string): Session {
  return {
    id: toListedId(id_hash),
    browser: browser ?? undefined,
    createdAt: new Date(row.created_at),
    lastUsedAt: last_used_at === null ? undefined : new Date(last_used_at),
    expiresAt: new Date(row.expires_at),
    isCurrent: id_hash === currentId,
  };
}

/** Returns an id that reveals nothing of the stored hash, by which the database finds a session. */
const toListedId = (idHash: string): string => hash('sha256', `listed session ${idHash}`).slice(0, 32);

interface NewSession {
  readonly personId: string;
  /** The `User-Agent` of the browser. Only a coarse name of it is stored. */
  readonly userAgent?: string;
  /** The session whose cookie is replaced. It ends, as its user could no longer sign out of it. */
  readonly before?: Caller;
  readonly at: number;
}

/** Starts a session in the transaction of the calling code. @returns the secret id for the cookie. */
export async function startSession(
  database: Database,
  { personId, userAgent = '', before, at }: NewSession,
): Promise<string> {
  if (before?.kind === 'session') {
    await database.deleteFrom('sessions').where('id_hash', '=', before.sessionId).execute();
  }
  const id = randomBytes(32).toString('base64url');
  const row = {
    id_hash: hash('sha256', id),
    person_id: personId,
    created_at: at,
    expires_at: at + LIFETIME_MS,
    browser: userAgent === '' ? null : nameBrowser(userAgent),
    last_used_at: at,
  };
  await database.insertInto('sessions').values(row).execute();
  return id;
}

const findSession = prepare((database, { idHash, at }: { readonly idHash: string; readonly at: number }) =>
  database
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select(['person_id', 'sessions.created_at', 'expires_at', 'last_used_at', 'username', 'is_admin'])
    .where('id_hash', '=', idHash)
    .where('expires_at', '>', at),
);

async function findCaller(database: Database, idHash: string, at: number): Promise<SessionCaller | undefined> {
  const [row] = await findSession(database, { idHash, at });
  if (row === undefined) return undefined;
  const expiresAt = Math.min(at + LIFETIME_MS, row.created_at + MAX_LIFETIME_MS);
  // Earlier releases extended sessions without a limit.
  if (expiresAt <= at) return undefined;
  if (at - (row.last_used_at ?? 0) >= RENEW_AFTER_MS) {
    const renewed = { expires_at: expiresAt, last_used_at: at };
    await database.updateTable('sessions').set(renewed).where('id_hash', '=', idHash).execute();
  }
  const { person_id: personId, username, is_admin, created_at: startedAt } = row;
  return { kind: 'session', sessionId: idHash, personId, username, isAdmin: is_admin === 1, startedAt };
}

/** Returns the name of the session cookie. The prefix `__Host-` makes browsers restrict it to https and this host. */
function sessionCookieName({ isHttps }: { readonly isHttps: boolean }): string {
  return isHttps ? '__Host-trellis_session' : 'trellis_session';
}

/**
 * The lifetime of the cookie: 400 days, the maximum in browsers. The session itself expires 30 days after its last use.
 */
const MAX_AGE_SECONDS = 400 * 86_400;

export interface SessionCookies {
  /** Formats the `Set-Cookie` header that sets the session cookie. */
  set(sessionId: string): string;
  /** Formats the `Set-Cookie` header that deletes the session cookie. */
  readonly clear: () => string;
}

/** @param publicUrl Returns the public origin; called for every cookie. */
export function createSessionCookies(publicUrl: () => string): SessionCookies {
  const format = (value: string, maxAgeSeconds: number): string => {
    const isHttps = new URL(publicUrl()).protocol === 'https:';
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isHttps ? '; Secure' : ''}`;
    return `${sessionCookieName({ isHttps })}=${value}; ${attributes}`;
  };
  return { set: (sessionId) => format(sessionId, MAX_AGE_SECONDS), clear: () => format('', 0) };
}

/** Finds the first cookie with a name in a `Cookie` header. */
function findCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}
