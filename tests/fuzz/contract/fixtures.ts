import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccounts } from '../../../src/accounts/accounts.js';
import type { components } from '../../../src/generated/dashboard/types.js';
import { openMigratedDatabase } from '../../../src/storage/open-database.js';
import { Passkey } from '../../contract/passkey.js';
import { startBoardForges, type BoardForges } from '../../e2e/board/board-forges.js';
import { FORGEJO_TOKEN } from '../../forges/forgejo.js';
import { GITHUB_TOKEN } from '../../forges/github.js';
import { GITLAB_TOKEN } from '../../forges/gitlab.js';
import { startServer, type RunningServer } from '../../running-server.js';
import { createCredentials, type HeaderSet } from './credentials.js';

type Schemas = components['schemas'];

/** A server in a child process, forges on loopback, and the credentials of three users. */
export interface FuzzFixtures {
  readonly server: RunningServer;
  readonly forges: BoardForges;
  /** Loopback URLs for forge settings. */
  readonly forgeUrls: readonly string[];
  credentialHeaders(name: string): HeaderSet;
  /** Recreates the accounts, sessions and tokens that requests have deleted. */
  renewCredentials(): Promise<void>;
  /** Renews the credentials and saves the forge settings. */
  restore(): Promise<void>;
  /** The webhook of the user whose board has pull requests. */
  webhook(): { readonly token: string; readonly secret: string };
  close(): Promise<void>;
}

export interface FuzzFixturesOptions {
  readonly isProduction: boolean;
  /** The limit of requests per minute, which is also used as the tight limit. */
  readonly perMinute: number;
}

const GUARD = new URL('../loopback-only.js', import.meta.url).href;
const SITE = fileURLToPath(new URL('../../../examples/site', import.meta.url));

export async function openFuzzFixtures({ isProduction, perMinute }: FuzzFixturesOptions): Promise<FuzzFixtures> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-fuzz-'));
  const forges = await startBoardForges();
  const limits = ['--rate-limit', String(perMinute), '--tight-rate-limit', String(perMinute)];
  const server = await startServer(
    ['--state', state, '--site', SITE, '--watch', 'false', '--forge-allow', '127.0.0.0/8', ...limits],
    { NODE_OPTIONS: `--import ${GUARD}`, ...(isProduction ? { NODE_ENV: 'production' } : {}) },
  );
  const database = await openMigratedDatabase({ file: join(state, 'trellis.db') });
  const accounts = createAccounts(database, { origin: () => server.origin });
  let credentials = await createCredentials(database, accounts, server.origin);
  let webhook = { token: '', secret: '' };

  const renewCredentials = async (): Promise<void> => {
    credentials = await createCredentials(database, accounts, server.origin);
  };
  const restore = async (): Promise<void> => {
    await renewCredentials();
    webhook = await saveForges(server.origin, credentials.memberSession ?? {}, forges);
  };
  await restore();
  for (const name of ['adminSession', 'memberSession']) await addPasskey(server.origin, credentials[name] ?? {});
  return {
    ...{ server, forges, restore, renewCredentials },
    forgeUrls: [forges.github.url, forges.forgejo.url, forges.gitlab.url],
    credentialHeaders: (name) => credentials[name] ?? {},
    webhook: () => webhook,
    async close() {
      await database.destroy();
      await server.stop();
      await forges.close();
      await rm(state, { recursive: true, force: true });
    },
  };
}

async function addPasskey(origin: string, session: HeaderSet): Promise<void> {
  const headers = { ...session, 'Content-Type': 'application/json' };
  const begin = await fetch(`${origin}/api/auth/credentials/begin`, { method: 'POST', headers: session });
  const body = JSON.stringify(new Passkey(origin).create((await begin.json()) as Schemas['CreationOptions']));
  const url = `${origin}/api/auth/credentials/finish?label=laptop`;
  const { status } = await fetch(url, { method: 'POST', headers, body });
  if (status !== 201) throw new Error(`POST /api/auth/credentials/finish: ${status}`);
}

/** Returns the webhook in the settings. */
async function saveForges(origin: string, session: HeaderSet, { github, forgejo, gitlab }: BoardForges) {
  const body = {
    ...{ githubUrl: github.url, githubToken: GITHUB_TOKEN, githubUsername: 'mona' },
    ...{ forgejoUrl: forgejo.url, forgejoToken: FORGEJO_TOKEN, forgejoUsername: 'mona' },
    ...{ gitlabUrl: gitlab.url, gitlabToken: GITLAB_TOKEN, gitlabUsername: 'mona' },
  };
  const headers = { ...session, 'Content-Type': 'application/json' };
  const response = await fetch(`${origin}/api/settings`, { method: 'PUT', headers, body: JSON.stringify(body) });
  const settings = (await response.json()) as { webhookToken: string; webhookSecret: string };
  if (response.status !== 200) throw new Error(`PUT /api/settings: ${response.status} ${JSON.stringify(settings)}`);
  return { token: settings.webhookToken, secret: settings.webhookSecret };
}
