import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { CommandError } from '../../../config/startup-error.js';
import { type CommandContext, withContext } from '../context.js';
import { fetchSecrets } from '../objects.js';
import { EXIT, toCommandError, collectValues } from '../options.js';
import { addConnectionOptions, type ConnectionOptions, withoutCredentials } from '../settings.js';
import type { Terminal } from '../terminal.js';
import { MIN_MASKED, type RunningProgram, startProgram } from './program.js';
import { type SecretFiles, writeSecretFiles } from './secret-files.js';
import { MAP_FILE } from './secrets-map.js';
import { choose, openValues, type SelectionOptions, toTexts } from './selection.js';

interface RunOptions extends ConnectionOptions, SelectionOptions {
  readonly mask?: true;
  readonly files?: true;
  readonly watch?: true | string;
}

/** `trellis secrets run`: runs a command with secrets in its environment. */
export function addRunCommand(secrets: Command, terminal: Terminal): void {
  const run = addSelectionOptions(secrets.command('run'))
    .description('Run a command with secrets in its environment')
    .argument('<command>', 'command to run')
    .argument('[arguments...]', 'its arguments, after --')
    .option('--mask', 'replace the values in the output of the command by ***')
    .option('--files', 'give the values as files in memory; VARIABLE_FILE is the path of each')
    .option('--watch [seconds]', 'look for changed values, every 30 seconds by default, and restart the command')
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
  trellis secrets run --files --watch -- ./serve.sh    # reads the file named by DB_PASSWORD_FILE
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

const addSelectionOptions = (command: Command): Command =>
  command
    .option('--secret <secret>', 'name of a secret, or VARIABLE=name; repeatable', collectValues)
    .option('--tag <tag>', 'all secrets with this tag; repeatable', collectValues)
    .option('--consumer <consumer>', 'all secrets of this consumer')
    .option('--map <file>', `file with the allowed secrets and their variables (default: ${MAP_FILE}, if it exists)`);

/** @returns the exit code of the program. */
async function runWithSecrets(session: CommandContext, command: readonly string[], flags: RunOptions): Promise<number> {
  const intervalMs = parseInterval(flags.watch);
  const watch = intervalMs === undefined ? undefined : { flags, intervalMs };
  let next = await open(session, flags, watch && (await readVersion(session, flags)));
  for (;;) {
    const { program, files } = await start(session, { command, flags, values: next.values });
    const stopped = new AbortController();
    try {
      const { version } = next;
      const changed = watch && untilChanged(session, { ...watch, version, signal: stopped.signal });
      const result = await Promise.race([program.ended, ...(changed === undefined ? [] : [changed])]);
      if (typeof result === 'number') return result;
      if (result === undefined) return await program.ended;
      session.say('A value has changed; the command is restarted.');
      // Its user or its service manager has ended this command in the meantime.
      if (await program.stop()) return await program.ended;
      next = result;
    } finally {
      stopped.abort();
      await files?.remove();
    }
  }
}

/** The values of a selection. */
interface Opened {
  /** A text that differs when the selection or one of its values has changed; absent if it is not needed. */
  readonly version: string | undefined;
  readonly values: ReadonlyMap<string, Uint8Array>;
}

/** Opens the selected values. A change during this is found afterwards, as the version is older. */
async function open(session: CommandContext, flags: RunOptions, version: string | undefined): Promise<Opened> {
  const values = await openValues(session, await choose(session, flags));
  // Throws before a running program is stopped.
  if (!flags.files) toTexts(values);
  return { version, values };
}

interface Started {
  readonly program: RunningProgram;
  readonly files: SecretFiles | undefined;
}

interface Start extends Pick<Opened, 'values'> {
  readonly command: readonly string[];
  readonly flags: RunOptions;
}

async function start(session: CommandContext, { command, flags, values }: Start): Promise<Started> {
  const { terminal } = session;
  const files = flags.files ? await writeSecretFiles(values, terminal.env) : undefined;
  const env = { ...withoutCredentials(terminal.env), ...(files?.env ?? toTexts(values)) };
  // With a pipe for one of them, as in "yes | trellis", the terminal still sends Ctrl+C to the program.
  const isTerminal = [terminal.in, terminal.out, terminal.err].some(({ isTTY }) => isTTY === true);
  const options = { env, isTerminal };
  if (!flags.mask) return { program: startProgram(command, options), files };
  const short = [...values].filter(([, { length }]) => length < MIN_MASKED).map(([variable]) => variable);
  if (short.length > 0) session.say(`Too short to mask: ${short.join(', ')}`);
  const masked = [...values.values()];
  return { program: startProgram(command, { ...options, masked, terminal }), files };
}

const DEFAULT_WATCH_SECONDS = 30;

/** A day. */
const MAX_WATCH_SECONDS = 86_400;

function parseInterval(watch: RunOptions['watch']): number | undefined {
  if (watch === undefined) return undefined;
  const seconds = watch === true ? DEFAULT_WATCH_SECONDS : Number(watch);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_WATCH_SECONDS) return seconds * 1000;
  throw new CommandError(`Expected --watch to be a whole number from 1 to ${MAX_WATCH_SECONDS}`, EXIT.usage);
}

/** Returns a text that differs when the selection or one of its values has changed. */
async function readVersion(session: CommandContext, flags: RunOptions): Promise<string> {
  const chosen = await choose(session, flags);
  const objects = await fetchSecrets(session, {});
  const versions = chosen.map(({ variable, slug, id }) => {
    const found = objects.filter((each) => each.slug === slug && (id === undefined || each.id === id));
    return [variable, slug, found.map(({ etag }) => etag)];
  });
  return JSON.stringify(versions);
}

interface Watched {
  readonly flags: RunOptions;
  readonly version: string | undefined;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the new values when one has changed, or with nothing when the signal aborts. A service that does not respond,
 * and values that must not be used or can't be opened, are reported once. They are requested again, as a writer may sign
 * the same value.
 */
async function untilChanged(
  session: CommandContext,
  { flags, version, intervalMs, signal }: Watched,
): Promise<Opened | undefined> {
  const reported = new Set<string>();
  const report = (start: string, error: unknown): void => {
    const { message } = Object(toCommandError(error, session.server)) as Error;
    if (!reported.has(message)) session.say(`${start}: ${message}`);
    reported.add(message);
  };
  for (;;) {
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    // The program has ended, and with it the watch.
    if (signal.aborted) return undefined;
    let found: string;
    try {
      found = await readVersion(session, flags);
    } catch (error) {
      report("Can't look for changed values", error);
      continue;
    }
    if (found === version) {
      reported.clear();
      continue;
    }
    try {
      return await open(session, flags, found);
    } catch (error) {
      report('A value has changed, but the command keeps running with the previous values', error);
    }
  }
}
