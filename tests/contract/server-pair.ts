/** Two built servers of secrets in separate processes, on one PostgreSQL database. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createAccounts } from '../../src/accounts/accounts.js';
import { serviceTokens } from '../../src/accounts/bearer-tokens.js';
import { createSecretsClient, type SecretsClient } from '../../src/generated/secrets/client.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { createCliServiceTokens } from '../../src/secrets/service-tokens.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { createDatabaseTarget, createTestFolder } from '../storage/engine.js';
import { compileServer } from './compiled-server.js';
import { findFreePort } from './free-port.js';

export interface PairedServer {
  readonly child: ChildProcess;
  readonly client: SecretsClient;
  /** Sends a request without an `Idempotency-Key`, which the client adds to writes. */
  put(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Response>;
}

export interface ServerPair {
  readonly databaseUrl: string;
  readonly second: PairedServer;
  /** The first server, which tests pause, cut off and kill. */
  first(): PairedServer;
  /** Kills the first server. */
  killFirst(): Promise<void>;
  /** Starts the first server again after it was killed. */
  restartFirst(): Promise<void>;
  close(): Promise<void>;
}

/** @param toFirstUrl Returns the URL by which the first server connects to the database. */
export async function startServerPair(
  toFirstUrl: (databaseUrl: string) => Promise<string> | string = (url) => url,
): Promise<ServerPair> {
  const place = await createDatabaseTarget();
  const databaseUrl = 'url' in place ? place.url : '';
  const token = await seed(databaseUrl);
  const folder = await createTestFolder();
  const folders = [path.join(folder, 'one'), path.join(folder, 'two')] as const;
  for (const one of folders) await mkdir(one, { mode: 0o700 });
  const firstUrl = await toFirstUrl(databaseUrl);
  const startFirst = () => start(folders[0], { token, databaseUrl: firstUrl });
  let first = await startFirst();
  await copyFile(path.join(folders[0], 'server.key'), path.join(folders[1], 'server.key'));
  const second = await start(folders[1], { token, databaseUrl });
  return {
    databaseUrl,
    second,
    first: () => first,
    killFirst: () => end(first.child),
    async restartFirst() {
      first = await startFirst();
    },
    async close() {
      await Promise.all([first, second].map(({ child }) => end(child)));
    },
  };
}

async function seed(url: string): Promise<string> {
  const database = await openDatabase({ url });
  await createAccounts(database, { origin: () => 'http://localhost' }).users.add({ username: 'a', displayName: 'A' });
  const tokens = createCliServiceTokens(database, { store: serviceTokens });
  const { token } = await tokens.create('write', { description: 'writer' });
  await sequenceAuditEntries(database);
  await database.destroy();
  return token;
}

async function start(
  state: string,
  { token, databaseUrl }: { readonly token: string; readonly databaseUrl: string },
): Promise<PairedServer> {
  const port = String(await findFreePort());
  const server = await compileServer();
  const args = ['--port', port, '--state', state, '--services', 'secrets', '--rate-limit', '0'];
  const child = await server.start(args, { DATABASE_URL: databaseUrl });
  const base = `http://localhost:${port}/secrets`;
  const client = createSecretsClient(base, { token, retry: { maxRetries: 0 } });
  return {
    child,
    client,
    put: (target, body, headers) =>
      fetch(`${base}${target}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A response with its time. */
export interface Outcome {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly ms: number;
}

export async function time(request: Promise<{ readonly response: Response }>): Promise<Outcome> {
  const startedAt = performance.now();
  const { response } = await request;
  const ms = performance.now() - startedAt;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ms };
}

/** Longer than `lock_timeout`, after which a request that needs a locked row is rejected. */
export const LONGEST_MS = 2_900;

/** Asserts a response, or after the time that a lock is waited for, a rejection that says when to retry. */
export function expectPrompt({ status, retryAfter, ms }: Outcome): void {
  expect([200, 503]).toContain(status);
  if (status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
  expect(ms).toBeLessThan(LONGEST_MS);
}

/** Lists the caller of each entry of the audit log. */
export async function listCallers({ client }: PairedServer): Promise<string[]> {
  const found: string[] = [];
  for (let after = 0; ;) {
    const { data = [] } = await client.GET('/audit-log', { params: { query: { after, limit: 500 } } });
    if (data.length === 0) return found;
    found.push(...data.map(({ caller = '' }) => caller));
    after = data.at(-1)!.id;
  }
}
