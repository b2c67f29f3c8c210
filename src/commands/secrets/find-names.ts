import type { SecretsClient } from '../../generated/secrets/client.js';
import { readSettings } from './settings.js';
import type { Terminal } from './terminal.js';

/** The maximum delay of a completion, in milliseconds. */
const TIMEOUT_MS = 1000;

/** Names that a shell reads as one word without quoting. Names of the service are untrusted. */
const PLAIN = /^[\w@%+][\w./@%+-]*$/;

/**
 * Lists the names for the completion of a placeholder; none when the service can't be reached. The token command is
 * not run, as it may prompt for a passphrase.
 */
export async function findNames(placeholder: string, terminal: Terminal): Promise<readonly string[]> {
  if (placeholder !== 'secret' && placeholder !== 'consumer') return [];
  try {
    const { server, token } = await readSettings({}, terminal.env);
    if (token === undefined || !('text' in token)) return [];
    const { createSecretsClient } = await import('../../generated/secrets/client.js');
    const options = { retry: { maxRetries: 0 }, timeoutMs: TIMEOUT_MS, onWarning: () => undefined };
    const names = await read(createSecretsClient(server, { token: token.text, ...options }), placeholder);
    return [...new Set(names)].filter((name) => PLAIN.test(name));
  } catch {
    return [];
  }
}

async function read(client: SecretsClient, placeholder: 'consumer' | 'secret'): Promise<string[]> {
  if (placeholder === 'consumer') {
    const { data = [] } = await client.GET('/consumers');
    return 'consumers' in data ? [] : [...data];
  }
  const { data = [] } = await client.GET('/objects', { params: { query: { limit: 500, offset: 0 } } });
  return data.map(({ slug }) => slug);
}
