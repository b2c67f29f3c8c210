import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { type CommandContext, loadSealing, type Terminal, withContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { fetchSecrets } from './objects.js';
import { collectValues } from './options.js';
import { addConnectionOptions, type ConnectionOptions, type Environment } from './settings.js';
import { fetchSealedValue } from './values.js';

interface RunOptions extends ConnectionOptions {
  readonly secret?: readonly string[];
  readonly tag?: readonly string[];
  readonly consumer?: string;
}

/** `trellis secrets run`: runs a command with secrets in its environment. */
export function addRunCommand(secrets: Command, terminal: Terminal): void {
  const run = secrets
    .command('run')
    .description('Run a command with secrets in its environment')
    .argument('<command>', 'command to run')
    .argument('[arguments...]', 'its arguments, after --')
    .option('--secret <secret>', 'name of a secret, or VARIABLE=name; repeatable', collectValues)
    .option('--tag <tag>', 'all secrets with this tag; repeatable', collectValues)
    .option('--consumer <consumer>', 'all secrets of this consumer')
    .addHelpText(
      'after',
      `
db-password becomes DB_PASSWORD, unless VARIABLE= names a different variable. Signals are forwarded, and the exit code is
that of the command; 127 if it is not found, 126 if it can't be run. TRELLIS_SECRETS_TOKEN and TRELLIS_SECRETS_IDENTITY
are not passed to it.
Secrets selected by --tag or --consumer must not set variables that change how programs load code, such as
LD_PRELOAD, NODE_OPTIONS, BASH_ENV or PATH. Use --secret NODE_OPTIONS=node-options to set one on purpose.

Examples:
  trellis secrets run --secret db-password --secret PGPASSWORD=pg-admin -- ./migrate.sh
  trellis secrets run --consumer acme/shop --tag prod -- node server.js`,
    );
  addConnectionOptions(run).action((program: string, args: readonly string[], flags: RunOptions) =>
    withContext(terminal, flags, async (session) => {
      const exitCode = await runWithSecrets(session, [program, ...args], flags);
      // The program has printed its own error.
      if (exitCode !== 0) throw new CommandError('', exitCode);
    }),
  );
}

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
async function runWithSecrets(session: CommandContext, command: readonly string[], flags: RunOptions): Promise<number> {
  const chosen = await choose(session, flags);
  const identity = await session.readIdentity();
  const { open } = await loadSealing();
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
    if (found.length === 0) throw new CommandError('No secrets have this tag and consumer', EXIT.notFound);
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
    return await new Promise<number>((resolve, reject) => {
      child.on('error', ({ code }: NodeJS.ErrnoException) => reject(toStartError(program, code)));
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
  }
}

function toStartError(program: string, code = 'unknown error'): CommandError {
  return code === 'ENOENT'
    ? new CommandError(`${program}: command not found`, NOT_FOUND)
    : new CommandError(`${program}: the command can't be run: ${code}`, NOT_RUN);
}

/** Returns the environment variable of a secret: `DB_PASSWORD` for `db-password`. */
export function toVariable(slug: string): string {
  const name = slug.toUpperCase().replace(/-/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** Returns the usual name for a variable: `db-password` for `DB_PASSWORD`. */
export const toKebab = (variable: string): string => variable.toLowerCase().replace(/^_+/, '').replace(/_/g, '-');

/**
 * Names that change which code programs load or run, in upper case. The table is that of sudo
 * (`initial_badenv_table` in `plugins/sudoers/env.c`), extended by newer runtimes, git and npm.
 */
const LOADER_VARIABLES = new Set(
  `BASH_ENV BASHOPTS BUN_OPTIONS CDPATH CLASSPATH CORECLR_PROFILER CORECLR_PROFILER_PATH DENO_DIR DOTNET_ADDITIONAL_DEPS
  DOTNET_STARTUP_HOOKS EDITOR ENV FPATH GCONV_PATH GETCONF_DIR GLOBIGNORE HOME HOSTALIASES IFS JAVA_TOOL_OPTIONS
  JDK_JAVA_OPTIONS LESSOPEN LIBPATH LOCALDOMAIN LOCPATH MALLOC_TRACE MANPAGER NLSPATH NODE_OPTIONS NODE_PATH
  NODE_REPL_EXTERNAL_MODULE NULLCMD OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES PAGER PATH PATHEXT COMSPEC PERL5DB
  PERL5LIB PERL5OPT PERLIO_DEBUG PERLLIB PHPRC PHP_INI_SCAN_DIR PROMPT_COMMAND PS4 READNULLCMD RES_OPTIONS RUBYLIB
  RUBYOPT SHELL SHELLOPTS SHLIB_PATH TERMCAP TERMINFO TERMINFO_DIRS TMPDIR TZDIR VISUAL ZDOTDIR _JAVA_OPTIONS`.split(
    /\s+/,
  ),
);

const LOADER_PREFIXES = ['BASH_FUNC_', 'DYLD_', 'GIT_', 'LD_', 'LDR_', 'NPM_CONFIG_', 'PYTHON', 'XDG_', '_RLD'];

/**
 * Reports whether a variable of this name can make a program load or run other code. Case is ignored, as npm and
 * Windows accept both.
 */
export function isLoaderVariable(variable: string): boolean {
  const name = variable.toUpperCase();
  return LOADER_VARIABLES.has(name) || LOADER_PREFIXES.some((prefix) => name.startsWith(prefix));
}
