import type { SecretsClient } from '../../generated/secrets/client.js';
import { readSettings } from './settings.js';
import type { Terminal } from './terminal.js';

/** Whoever presses a key waits for no longer. */
const TIMEOUT_MS = 1000;

/** What a shell takes for a word as it stands: names come from the service, and end in a command line. */
const PLAIN = /^[\w@%+][\w./@%+-]*$/;

/**
 * The names that the service knows of what a placeholder stands for, for
 * completion; none when it can't be asked in silence. No command is run for
 * the token: it may ask for a passphrase, or cost something.
 */
export async function findNames(placeholder: string, terminal: Terminal): Promise<readonly string[]> {
  if (placeholder !== 'object' && placeholder !== 'consumer') return [];
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

async function read(client: SecretsClient, placeholder: 'consumer' | 'object'): Promise<string[]> {
  if (placeholder === 'consumer') {
    const { data = [] } = await client.GET('/consumers');
    return 'consumers' in data ? [] : [...data];
  }
  const { data = [] } = await client.GET('/objects', { params: { query: { limit: 500, offset: 0 } } });
  return data.map(({ slug }) => slug);
}
