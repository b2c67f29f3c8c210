import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { type CommandContext, loadSealing, type Terminal, withContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { isLoaderVariable } from './loader-variables.js';
import { fetchSecrets } from './objects.js';
import { collectValues } from './options.js';
import { MIN_MASKED, OutputMask } from './output-mask.js';
import { writeOutput } from './print.js';
import { readSecretsMap, type SecretsMap } from './secrets-map.js';
import { addConnectionOptions, type ConnectionOptions, type Environment } from './settings.js';
import { fetchSealedValue } from './values.js';

interface RunOptions extends ConnectionOptions {
  readonly secret?: readonly string[];
  readonly tag?: readonly string[];
  readonly consumer?: string;
  readonly map?: string;
  readonly mask?: true;
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
    .option('--map <file>', `file with the allowed secrets and their variables (default: ${MAP_FILE}, if it exists)`)
    .option('--mask', 'replace the values in the output of the command by ***')
    .addHelpText(
      'after',
      `
db-password becomes DB_PASSWORD, unless VARIABLE= names a different variable. Signals are forwarded, and the exit code is
that of the command; 127 if it is not found, 126 if it can't be run. TRELLIS_SECRETS_TOKEN and TRELLIS_SECRETS_IDENTITY
are not passed to it. With a consumer token, all secrets of the consumer are selected unless options select others.
Secrets selected by --tag or --consumer must not set variables that change how programs load code, such as
LD_PRELOAD, NODE_OPTIONS, BASH_ENV or PATH. Use --secret NODE_OPTIONS=node-options to set one on purpose.

${MAP_FILE} in the current folder lists the secrets that commands here may get, by their variables. Without other
options, all of them are selected; with --tag or --consumer, a secret that it does not list is rejected:
  secrets:
    DB_PASSWORD: db-password
    PGPASSWORD: db-password

Examples:
  trellis secrets run --secret db-password --secret PGPASSWORD=pg-admin -- ./migrate.sh
  trellis secrets run --consumer acme/shop --tag prod -- node server.js
  trellis secrets run -- ./deploy.sh    # with a consumer token`,
    );
  addConnectionOptions(run).action((program: string, args: readonly string[], flags: RunOptions) =>
    withContext(terminal, flags, async (session) => {
      const exitCode = await runWithSecrets(session, [program, ...args], flags);
      // The program has printed its own error.
      if (exitCode !== 0) throw new CommandError('', exitCode);
    }),
  );
}

/** The file in a repository with the allowed secrets. */
const MAP_FILE = 'trellis.secrets.yaml';

/** The exit codes of shells for a program that can't be run, or is not found. */
const NOT_RUN = 126;
const NOT_FOUND = 127;

/** Credentials of this command, which the program must not receive. */
const WITHHELD = ['TRELLIS_SECRETS_TOKEN', 'TRELLIS_SECRETS_IDENTITY', 'TRELLIS_SECRETS_ID_TOKEN'];

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
  const env = { ...Object.fromEntries(own), ...secrets };
  const { terminal } = session;
  if (!flags.mask) return start(command, { env, isTerminal: terminal.in.isTTY === true });
  const short = Object.entries(secrets).filter(([, value]) => value.length < MIN_MASKED);
  if (short.length > 0) session.say(`Too short to mask: ${short.map(([variable]) => variable).join(', ')}`);
  return start(command, { env, isTerminal: terminal.in.isTTY === true, masked: Object.values(secrets), terminal });
}

async function choose(session: CommandContext, flags: RunOptions): Promise<Chosen[]> {
  const { secret = [], tag, consumer } = flags;
  const named: readonly Chosen[] = secret.map(parseChoice);
  const chosen: Chosen[] = [...named];
  const hasFilter = tag !== undefined || consumer !== undefined;
  const isOpen = !hasFilter && secret.length === 0;
  const map = await readSecretsMap(flags.map, MAP_FILE);
  if (map !== undefined && isOpen) {
    chosen.push(
      ...map.entries.map(({ variable, slug }) => ({ variable: variable ?? toVariable(slug), slug, id: undefined })),
    );
  } else if (hasFilter || (session.isConsumer && isOpen)) {
    // A consumer without a selection gets all of its secrets.
    const found = await fetchSecrets(session, { tag, consumer });
    if (found.length === 0) throw new CommandError(describeNone(flags), EXIT.notFound);
    const selected = found.flatMap(({ slug, id }) =>
      toVariables(slug, map).map((variable) => ({ variable, slug, id })),
    );
    chosen.push(...selected.filter((one) => isAllowed(one, { named, map })));
  }
  assertDistinct(chosen);
  return chosen;
}

function describeNone({ tag, consumer }: RunOptions): string {
  const wanted = [...(tag ?? []).map((one) => `the tag ${one}`), ...(consumer ? [`the consumer ${consumer}`] : [])];
  return wanted.length === 0 ? 'The consumer has no secrets' : `No secrets have ${wanted.join(' and ')}`;
}

/**
 * Returns the variables of a selected secret: those of the map, if there is one.
 *
 * @throws CommandError for a secret that the map does not list.
 */
function toVariables(slug: string, map: SecretsMap | undefined): readonly string[] {
  if (map === undefined) return [toVariable(slug)];
  const listed = map.entries.filter((entry) => entry.slug === slug);
  if (listed.length > 0) return listed.map(({ variable = toVariable(slug) }) => variable);
  throw new CommandError(
    `${map.file} does not list ${slug}; the program was not started. Add it to the file, or select it with --secret`,
    EXIT.conflict,
  );
}

interface Allowed {
  readonly named: readonly Chosen[];
  readonly map: SecretsMap | undefined;
}

/**
 * Anyone with write access to the service chooses the names, so a variable that changes how programs load
 * code is set only if the user or the map names it. A named variable is not set twice.
 *
 * @throws CommandFailure for a selected secret with such a variable that is not named.
 */
function isAllowed({ variable, slug }: Chosen, { named, map }: Allowed): boolean {
  // The map names every secret that is selected.
  if (map !== undefined || !isLoaderVariable(variable)) return true;
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
  if (chosen.length === 0) {
    throw new CommandError(`Select secrets with --secret, --tag, --consumer or ${MAP_FILE}`, EXIT.usage);
  }
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

type StartOptions = { readonly env: Environment; readonly isTerminal: boolean } & (
  | { readonly masked?: undefined }
  /** The values that must not appear in the output. */
  | { readonly masked: readonly string[]; readonly terminal: Pick<Terminal, 'err' | 'out'> }
);

async function start([program = '', ...args]: readonly string[], options: StartOptions): Promise<number> {
  const { env, isTerminal, masked } = options;
  const child = spawn(program, args, {
    stdio: ['inherit', masked ? 'pipe' : 'inherit', masked ? 'pipe' : 'inherit'],
    env,
  });
  const written = masked === undefined ? undefined : pipeMasked(child, options);
  // The terminal sends its signals to the program directly.
  const forward = (signal: NodeJS.Signals): void => {
    if (!isTerminal || !['SIGINT', 'SIGQUIT'].includes(signal)) child.kill(signal);
  };
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.on('error', ({ code }: NodeJS.ErrnoException) => reject(toStartError(program, code)));
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
    await written;
    return exitCode;
  } finally {
    for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
  }
}

/** Writes the output of a program without the masked values. */
async function pipeMasked({ stdout, stderr }: ChildProcess, options: StartOptions): Promise<void> {
  if (options.masked === undefined) return;
  const { masked, terminal } = options;
  const pipe = async (source: Readable | null, target: NodeJS.WritableStream): Promise<void> => {
    const mask = new OutputMask(masked);
    for await (const chunk of source ?? []) await writeOutput(target, mask.push(chunk as Buffer));
    await writeOutput(target, mask.end());
  };
  await Promise.allSettled([pipe(stdout, terminal.out), pipe(stderr, terminal.err)]);
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
