import { readAll } from '@trellis/client/paging';
import type { Command } from 'commander';
import type { SecretsClient } from '../../generated/secrets/client.js';
import { completeCommand, completionCommand, type GivenOptions } from '../completion.js';
import { addAuditCommand } from './audit.js';
import { addConsumerCommands } from './consumers.js';
import { addEditCommand } from './edit.js';
import { addInitCommand, addStatusCommand } from './init.js';
import { addInjectCommand } from './inject.js';
import { addLoginCommands } from './login.js';
import { addMcpCommand } from './mcp/mcp.js';
import { addSecretCommands } from './objects.js';
import { createSecretsCommand } from './options.js';
import { addRunCommand } from './run/run.js';
import { type ConnectionOptions, readSettings } from './settings.js';
import { addSignatureCommands } from './signatures.js';
import type { Terminal } from './terminal.js';
import { addTokenCommands } from './tokens.js';
import { addTransferCommands } from './transfer.js';
import { addValueCommands } from './values.js';
import { addWebhookCommand } from './webhook.js';

/** `trellis secrets`: seals and opens values; the service stores them sealed. */
export function secretsCommand(terminal: Terminal): Command {
  const secrets = createSecretsCommand(terminal);
  addInitCommand(secrets, terminal);
  addLoginCommands(secrets, terminal);
  addStatusCommand(secrets, terminal);
  addValueCommands(secrets, terminal);
  addSecretCommands(secrets, terminal);
  addRunCommand(secrets, terminal);
  addMcpCommand(secrets, terminal);
  addWebhookCommand(secrets, terminal);
  addEditCommand(secrets, terminal);
  addInjectCommand(secrets, terminal);
  addTransferCommands(secrets, terminal);
  addSignatureCommands(secrets, terminal);
  addConsumerCommands(secrets, terminal);
  addTokenCommands(secrets, terminal);
  addAuditCommand(secrets, terminal);
  return secrets;
}

/** The commands of `secrets` that are also commands of their own. */
const SHORT: readonly string[] = ['login', 'logout', 'whoami'];

/** Adds `secrets`, and `login`, `logout` and `whoami` as commands of their own. */
export function addSecretsCommands(program: Command, terminal: Terminal): void {
  const secrets = secretsCommand(terminal);
  program.addCommand(secrets);
  for (const command of secrets.commands) if (SHORT.includes(command.name())) program.addCommand(command);
}

/** Adds the commands for secrets, and those that complete them. */
export function addAllCommands(program: Command, terminal: Terminal): void {
  addSecretsCommands(program, terminal);
  program.addCommand(completionCommand({ out: terminal.out }));
  const findAll = (placeholder: string, options: GivenOptions) => findNames(placeholder, options, terminal);
  program.addCommand(completeCommand(program, { out: terminal.out, findNames: findAll }), { hidden: true });
}

/** The maximum delay of a completion, in milliseconds. */
const TIMEOUT_MS = 1000;

/** Names that a shell reads as one word without quoting. Names of the service are untrusted. */
const PLAIN = /^[\w@%+][\w./@%+-]*$/;

/**
 * Lists the names for the completion of a placeholder, from the service of the options; none when it can't be reached. The
 * token command is not run, as it may prompt for a passphrase.
 */
export async function findNames(
  placeholder: string,
  options: ConnectionOptions,
  { env }: Pick<Terminal, 'env'>,
): Promise<readonly string[]> {
  if (placeholder !== 'secret' && placeholder !== 'consumer') return [];
  try {
    const { server, token } = await readSettings(options, env);
    if (token === undefined || !('text' in token)) return [];
    const { createSecretsClient } = await import('../../generated/secrets/client.js');
    const limits = { retry: { maxRetries: 0 }, timeoutMs: TIMEOUT_MS, onWarning: () => undefined };
    const names = await read(createSecretsClient(server, { token: token.text, ...limits }), placeholder);
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
