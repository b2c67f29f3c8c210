import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { limitConcurrency } from '@trellis/core/concurrency';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { openStoredValue } from './age/open-value.js';
import { fetchSealedValue } from './authentic-values.js';
import { type CommandContext, withContext } from './context.js';
import { EXIT, toCommandError } from './options.js';
import { addConnectionOptions, type ConnectionOptions, nonEmpty } from './settings.js';
import type { Terminal } from './terminal.js';

interface WebhookOptions extends ConnectionOptions {
  readonly listen: string;
}

/** `trellis secrets webhook`: opens values for the webhook provider of External Secrets. */
export function addWebhookCommand(secrets: Command, terminal: Terminal): void {
  const webhook = secrets
    .command('webhook')
    .description('Serve opened values to the External Secrets operator of Kubernetes')
    .option('--listen <host:port>', 'address to listen on', '127.0.0.1:8080')
    .addHelpText(
      'after',
      `
GET /secrets/<name> returns {"value": "…"}; with ?encoding=base64, the value may have any bytes. Requests need the header
"Authorization: Bearer" with the token in TRELLIS_SECRETS_WEBHOOK_TOKEN, which has at least 32 characters.

Example:
  TRELLIS_SECRETS_WEBHOOK_TOKEN=$(openssl rand -hex 32) trellis secrets webhook --listen 0.0.0.0:8080`,
    );
  addConnectionOptions(webhook).action((flags: WebhookOptions) =>
    withContext(terminal, flags, (session) => serveWebhook(session, flags)),
  );
}

/** The shortest token that can't be guessed. */
const MIN_TOKEN = 32;

const MAX_PORT = 65_535;

async function serveWebhook(session: CommandContext, { listen }: WebhookOptions): Promise<void> {
  const [, host = '', port = ''] = /^(?:\[(?=.*\]:))?([^[\]]+?)\]?:(\d{1,5})$/.exec(listen) ?? [];
  if (port === '' || Number(port) > MAX_PORT)
    throw new CommandError('Expected --listen to be an address such as 127.0.0.1:8080', EXIT.usage);
  const server = createValueServer(session, session.terminal.env.TRELLIS_SECRETS_WEBHOOK_TOKEN);
  server.listen(Number(port), host);
  await once(server, 'listening').catch((error: unknown) => {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new CommandError(`Can't listen on ${listen}: ${code}`, EXIT.failed);
  });
  session.say(`Serving opened values at ${listen}.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close().closeAllConnections());
  await once(server, 'close');
}

/** Opening a value takes little, but reading it waits for the service. */
const MAX_OPEN = 8;

/**
 * Creates the server of the webhook. The identity and the token of the service are read again for no request.
 *
 * @throws CommandError without a token for its callers.
 */
export function createValueServer(session: CommandContext, token: string | undefined): Server {
  if ((nonEmpty(token) ?? '').length < MIN_TOKEN) {
    const expected = `Expected TRELLIS_SECRETS_WEBHOOK_TOKEN to have at least ${MIN_TOKEN} characters`;
    throw new CommandError(expected, EXIT.usage);
  }
  const identity = session.readIdentity();
  // Reported by the first request too.
  identity.catch(() => undefined);
  const inTurn = limitConcurrency(MAX_OPEN);
  const serve = (response: ServerResponse, slug: string, isBase64: boolean): void =>
    void inTurn(async () =>
      openStoredValue(await fetchSealedValue(session, slug, {}), await identity, session.terminal),
    )
      .then((value) => respond(response, 200, { value: toText(value, isBase64) }))
      .catch((error: unknown) => respondError(response, error));
  const server = createServer((request, response) => {
    const [, slug, query] = /^\/secrets\/([A-Za-z0-9][A-Za-z0-9_-]{0,127})(?:\?(.*))?$/.exec(request.url ?? '') ?? [];
    const isKnown = request.method === 'GET' && slug !== undefined;
    if (!isAllowed(request.headers.authorization, token ?? '')) respond(response, 401, { error: 'unauthenticated' });
    else if (isKnown) serve(response, slug, new URLSearchParams(query).get('encoding') === 'base64');
    else respond(response, 404, { error: 'not found' });
  });
  server.requestTimeout = 10_000;
  server.maxConnections = 256;
  return server;
}

function isAllowed(authorization: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`));
}

/** @throws CommandError for a value that is not text. */
function toText(value: Uint8Array, isBase64: boolean): string {
  if (isBase64) return Buffer.from(value).toString('base64');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw new CommandError('The value is not text; use ?encoding=base64', EXIT.usage);
  }
}

const STATUS: Readonly<Record<number, number>> = { [EXIT.notFound]: 404, [EXIT.usage]: 422, [EXIT.conflict]: 409 };

/** Responds with the message of the command line, which contains neither a value nor a credential. */
function respondError(response: ServerResponse, error: unknown): void {
  const known = toCommandError(error);
  if (known instanceof CommandError) respond(response, STATUS[known.exitCode] ?? 502, { error: known.message });
  else respond(response, 500, { error: 'internal error' });
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
