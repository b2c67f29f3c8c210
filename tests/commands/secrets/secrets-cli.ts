import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { formatFailure, wantsJson } from '../../../src/commands/run-program.js';
import { secretsCommand } from '../../../src/commands/secrets/secrets-command.js';
import { StartupError } from '../../../src/config/startup-error.js';
import { type components, createSecretsClient, type SecretsClient } from '../../../src/generated/secrets/client.js';
import { generateIdentity, toRecipients } from '../../../src/sealing/secrets.js';
import type { Database } from '../../../src/storage/database.js';
import { serveTrellis } from '../../client/trellis-server.js';
import { Passkey } from '../../contract/passkey.js';
import { LOOPBACK } from '../../forges/forge-server.js';

export interface SecretsCommandResult {
  readonly code: number;
  /** Standard output as text. */
  readonly out: string;
  readonly bytes: Buffer;
  readonly err: string;
}

export interface CommandInput {
  /** The content of standard input, or a function that is called when it is read. */
  readonly stdin?: Uint8Array | string | (() => Promise<Uint8Array | string>);
  readonly env?: Readonly<Record<string, string>>;
  /** Called instead of waiting, with the messages so far. */
  readonly sleep?: (said: string) => Promise<void>;
}

/** A running service, and its command line with a write token. */
export interface SecretsCli {
  readonly server: string;
  readonly token: string;
  readonly client: SecretsClient;
  /** A client with the session of the owner. */
  readonly owner: SecretsClient;
  /** The identity of `consumer`. */
  readonly identity: string;
  readonly recipient: string;
  /** A consumer whose public key is `recipient`. */
  readonly consumer: string;
  readonly folder: string;
  /** The database of the service, as an attacker with write access finds it. */
  readonly database: Database;
  readonly env: Readonly<Record<string, string>>;
  /** Approves the request whose code `login` has shown, with a passkey of the owner, and makes the next poll due. */
  approveLogin(said: string, access?: components['schemas']['TokenAccess']): Promise<void>;
  /** Runs a command in this process, like the command line. */
  run(args: readonly string[], given?: CommandInput): Promise<SecretsCommandResult>;
  close(): Promise<void>;
}

export async function openSecretsCli(): Promise<SecretsCli> {
  const trellis = await serveTrellis({
    flags: { services: 'secrets', rateLimit: '0', issuerAllow: LOOPBACK.join(',') },
  });
  const server = `${trellis.url}/secrets`;
  const { headers: session, personId } = await trellis.signIn('ada');
  const token = await createToken(server, session);
  const client = createSecretsClient(server, { token, retry: { maxRetries: 0 } });
  const owner = createSecretsClient(server, {
    token: '',
    retry: { maxRetries: 0 },
    fetch: (request) => {
      for (const [name, value] of Object.entries(session)) request.headers.set(name, value);
      return fetch(request);
    },
  });
  const identity = await generateIdentity();
  const [recipient = ''] = await toRecipients(identity);
  const folder = await mkdtemp(join(tmpdir(), 'trellis-secrets-cli-'));
  const env = { TRELLIS_SECRETS_SERVER: server, TRELLIS_SECRETS_TOKEN: token, TRELLIS_SECRETS_IDENTITY: identity };
  await client.POST('/consumers', { body: { name: 'acme/shop', public_key: recipient } });
  return {
    ...{ server, token, client, owner, identity, recipient, consumer: 'acme/shop', folder },
    database: trellis.services.database,
    env: { ...env, HOME: folder },
    run: (args, given = {}) => runSecrets(args, { ...given, env: { ...env, HOME: folder, ...given.env } }),
    async approveLogin(said, access = { permissions: ['list', 'read'] }) {
      const { passkeys, sessions } = trellis.services.accounts;
      const caller = await sessions.findCaller(await sessions.start(personId));
      const passkey = new Passkey(trellis.url);
      const credential = passkey.create(await passkeys.begin(caller));
      await passkeys.finish(caller, { credential, label: undefined }, '127.0.0.1');
      const { data } = await owner.POST('/auth/login/begin');
      const [, code = ''] = /code (\S+)/.exec(said) ?? [];
      const answer = await owner.POST('/auth/device/requests/{user_code}', {
        params: { path: { user_code: code } },
        body: { description: 'laptop', access, credential: passkey.get(data!.publicKey) },
      });
      if (!answer.response.ok) throw new Error(JSON.stringify(answer.error));
      await trellis.services.database.updateTable('device_logins').set({ next_poll_at: 0 }).execute();
    },
    async close() {
      await trellis.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** An address of the service that can be out of reach, as during a restart. */
export interface UnstableAddress {
  /** The URL of the service. */
  readonly server: string;
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Forwards requests to a service while it is open, but those that it limits. */
export async function openUnstableAddress(
  server: string,
  isLimited: (path: string) => boolean = () => false,
): Promise<UnstableAddress> {
  const proxy = createServer((request, response) => {
    if (isLimited(request.url ?? '')) {
      response.writeHead(429, { 'retry-after': '2' }).end();
      return;
    }
    const options = { method: request.method, headers: { ...request.headers, host: new URL(server).host } };
    const forwarded = httpRequest(new URL(request.url ?? '', server), options, (given) => {
      response.writeHead(given.statusCode ?? 500, given.headers);
      given.pipe(response);
    });
    request.pipe(forwarded);
  });
  const listen = async (port: number): Promise<void> => void (await once(proxy.listen(port, '127.0.0.1'), 'listening'));
  await listen(0);
  const { port } = proxy.address() as AddressInfo;
  return {
    server: `http://127.0.0.1:${port}/secrets`,
    open: () => listen(port),
    async close() {
      const closed = once(proxy, 'close');
      proxy.close().closeAllConnections();
      await closed;
    },
  };
}

async function createToken(server: string, session: Readonly<Record<string, string>>): Promise<string> {
  const headers = { ...session, 'content-type': 'application/json' };
  const body = JSON.stringify({ description: 'command line' });
  const response = await fetch(`${server}/tokens`, { method: 'POST', headers, body });
  return ((await response.json()) as { value: string }).value;
}

/** Runs a command with the given settings only. */
export async function runSecrets(
  args: readonly string[],
  { stdin = '', env = {}, sleep }: CommandInput,
): Promise<SecretsCommandResult> {
  const json = wantsJson(args);
  const chunks = { out: [] as Buffer[], err: [] as Buffer[] };
  const stream = (name: 'err' | 'out') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks[name].push(chunk);
        done();
      },
    });
  const streams = { in: Readable.from(chunksOf(stdin)), out: stream('out'), err: stream('err') };
  const wait = sleep && (() => sleep(Buffer.concat(chunks.err).toString()));
  const terminal = { ...streams, env, json, ...(wait && { sleep: wait }) };
  const said = (code: number, message = ''): SecretsCommandResult => {
    const bytes = Buffer.concat(chunks.out);
    const err = Buffer.concat(chunks.err).toString();
    return { code, bytes, out: bytes.toString(), err: `${err}${formatFailure({ message, exitCode: code }, json)}` };
  };
  try {
    await secretsCommand(terminal).parseAsync(args, { from: 'user' });
    return said(0);
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return said(error.exitCode, error.message);
  }
}

async function* chunksOf(stdin: NonNullable<CommandInput['stdin']>): AsyncGenerator<Buffer> {
  yield Buffer.from(typeof stdin === 'function' ? await stdin() : stdin);
}

/** Returns a new unique name. */
export const newName = (): string => `s-${randomUUID()}`;
