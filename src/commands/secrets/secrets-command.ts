import { readAll } from '@trellis/client/paging';
import { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { addAuditCommand } from './audit.js';
import { addConsumerCommands } from './consumers.js';
import type { Terminal } from './context.js';
import { addEditCommand } from './edit.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { addInitCommand, addStatusCommand } from './init.js';
import { addInjectCommand } from './inject.js';
import { addMcpCommand } from './mcp/mcp.js';
import { addSecretCommands } from './objects.js';
import { addRunCommand } from './run/run.js';
import { readSettings } from './settings.js';
import { addSignatureCommands } from './signatures.js';
import { addTokenCommands } from './tokens.js';
import { addTransferCommands } from './transfer.js';
import { addValueCommands } from './values.js';

/** `trellis secrets`: seals and opens values; the service stores them sealed. */
export function secretsCommand(terminal: Terminal): Command {
  const secrets = new Command('secrets')
    .description('Manage sealed secrets')
    // Set first, as the commands below inherit both.
    .showHelpAfterError('(see --help)')
    .exitOverride(({ exitCode }) => {
      // Commander has printed the error; 0 is for --help.
      throw new CommandError('', exitCode === 0 ? 0 : EXIT.usage);
    })
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
    })
    .addHelpText('after', HELP);
  addInitCommand(secrets, terminal);
  addStatusCommand(secrets, terminal);
  addValueCommands(secrets, terminal);
  addSecretCommands(secrets, terminal);
  addRunCommand(secrets, terminal);
  addMcpCommand(secrets, terminal);
  addEditCommand(secrets, terminal);
  addInjectCommand(secrets, terminal);
  addTransferCommands(secrets, terminal);
  addSignatureCommands(secrets, terminal);
  addConsumerCommands(secrets, terminal);
  addTokenCommands(secrets, terminal);
  addAuditCommand(secrets, terminal);
  return secrets;
}

const HELP = `
Values are read from standard input or a file, never from an argument, and are sealed (encrypted with age) on this
machine. Settings come from options, the environment, and the file that "init" writes, in this order. Without a token,
a CI job gets one in exchange for the token of its issuer: of GitHub Actions and Forgejo (ACTIONS_ID_TOKEN_REQUEST_URL),
or that in TRELLIS_SECRETS_ID_TOKEN or the file TRELLIS_SECRETS_ID_TOKEN_FILE.

Examples:
  trellis secrets init
  printf %s "$PASSWORD" | trellis secrets put db-password --consumer acme/shop
  trellis secrets run --secret db-password -- ./deploy.sh
${EXIT_HELP}`;

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
  const slugs: string[] = [];
  const deadline = performance.now() + TIMEOUT_MS;
  for await (const { slug } of readAll(client, '/objects')) {
    slugs.push(slug);
    if (performance.now() > deadline) break;
  }
  return slugs;
}
