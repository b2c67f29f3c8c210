import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { CommandError } from '../../config/startup-error.js';
import { open } from '../../sealing/seal.js';
import { EXIT } from './exit-codes.js';
import { fetchSecrets } from './read-secrets.js';
import { fetchSealedValue } from './read-values.js';
import type { RunOptions } from './run-command.js';
import type { CommandContext } from './context.js';
import type { Environment } from './terminal.js';
import { isLoaderVariable, toVariable } from './variables.js';

/** The exit codes of shells for a program that can't be run, or is not found. */
const NOT_RUN = 126;
const NOT_FOUND = 127;

/** Credentials of this command, which the program must not receive. */
const WITHHELD = ['TRELLIS_SECRETS_TOKEN', 'TRELLIS_SECRETS_IDENTITY'];

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** A secret and its variable. */
interface Chosen {
  readonly variable: string;
  readonly slug: string;
  readonly id: string | undefined;
}

/** @returns the exit code of the program. */
export async function runWithSecrets(
  session: CommandContext,
  command: readonly string[],
  flags: RunOptions,
): Promise<number> {
  const chosen = await choose(session, flags);
  const identity = await session.readIdentity();
  const secrets: Record<string, string> = {};
  for (const { variable, slug, id } of chosen) {
    secrets[variable] = toText(await open(await fetchSealedValue(session, slug, { id }), identity), slug);
  }
  const own = Object.entries(session.terminal.env).filter(([name]) => !WITHHELD.includes(name));
  return start(command, { ...Object.fromEntries(own), ...secrets }, session.terminal.in.isTTY === true);
}

async function choose(session: CommandContext, flags: RunOptions): Promise<Chosen[]> {
  const { secret = [], tag, consumer } = flags;
  const chosen: Chosen[] = secret.map(parseChoice);
  if (tag !== undefined || consumer !== undefined) {
    const found = await fetchSecrets(session, { tag, consumer });
    const selected = found.map(({ slug, id }) => ({ variable: toVariable(slug), slug, id }));
    chosen.push(...selected.filter((one) => isAllowed(one, chosen)));
  }
  assertDistinct(chosen);
  return chosen;
}

/**
 * Anyone with write access to the service chooses the names, so a variable that changes how programs load
 * code is set only if the user names it. A named variable is not set twice.
 *
 * @throws CommandFailure for a selected secret with such a variable that is not named.
 */
function isAllowed({ variable, slug }: Chosen, named: readonly Chosen[]): boolean {
  if (!isLoaderVariable(variable)) return true;
  if (named.some((one) => one.variable === variable && one.slug === slug)) return false;
  throw new CommandError(
    `${slug} would set ${variable}, which changes how programs load code; the program was not started. ` +
      `To set it all the same, name it: --secret ${variable}=${slug}`,
    EXIT.conflict,
  );
}

function parseChoice(text: string): Chosen {
  const [, variable, slug = text] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (variable === undefined) return { variable: toVariable(slug), slug, id: undefined };
  if (/^[A-Za-z_]\w*$/.test(variable)) return { variable, slug, id: undefined };
  throw new CommandError('Expected --secret to be a name or VARIABLE=name', EXIT.usage);
}

/** Rejects secrets that would set the same variable: variants of a name, and names that differ in separators. */
function assertDistinct(chosen: readonly Chosen[]): void {
  if (chosen.length === 0) throw new CommandError('Select secrets with --secret, --tag or --consumer', EXIT.usage);
  const names = chosen.map(({ variable }) => variable);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new CommandError(
    `Several secrets would set ${duplicate}. Use --secret VARIABLE=name to distinguish them`,
    EXIT.conflict,
  );
}

/** Environment variables are text without NUL. */
function toText(value: Uint8Array, slug: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    if (!text.includes('\0')) return text;
  } catch {
    // Reported below, without the value.
  }
  throw new CommandError(`The value of ${slug} is not text without NUL, which a variable requires`, EXIT.usage);
}

async function start(
  [program = '', ...args]: readonly string[],
  env: Environment,
  isTerminal: boolean,
): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env });
  // The terminal sends its signals to the program directly.
  const forward = (signal: NodeJS.Signals): void => {
    if (!isTerminal || !['SIGINT', 'SIGQUIT'].includes(signal)) child.kill(signal);
  };
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
  try {
    return await new Promise<number>((resolve) => {
      child.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ENOENT' ? NOT_FOUND : NOT_RUN));
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
  }
}
