import { Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import type { Terminal } from './context.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';

/** Creates `trellis secrets` without its commands, which inherit its streams and its exit codes. */
export function createSecretsCommand(terminal: Terminal): Command {
  return (
    new Command('secrets')
      .description('Manage sealed secrets')
      // Set before the commands are added, as they inherit both.
      .showHelpAfterError('(see --help)')
      .exitOverride(({ exitCode, message }) => {
        // Commander has printed the error as text; 0 is for --help.
        const text = terminal.json ? message.replace(/^error: /, '') : '';
        throw exitCode === 0 ? new CommandError('', 0) : new CommandError(text, EXIT.usage);
      })
      .configureOutput({
        writeOut: (text) => void terminal.out.write(text),
        writeErr: (text) => {
          if (!terminal.json) terminal.err.write(text);
        },
      })
      .addHelpText('after', HELP)
  );
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

/** Collects the values of a repeated option. */
export const collectValues = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Collects public keys. An SSH key ends in a comment, which is not part of the key. */
const collectKeys = (key: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  key.trim().replace(/^(ssh-\S+\s+\S+)\s.*$/, '$1'),
];

/** Creates a parser for a number of days up to a limit. */
export const parseDays =
  (most: number) =>
  (text: string): number => {
    const days = Number(text);
    if (/^\d+$/.test(text) && days >= 1 && days <= most) return days;
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
  };

/** The limit of the contract for the days until a value is due for rotation: ten years. */
export const MAX_ROTATION_DAYS = 3650;

export const parseRotation = parseDays(MAX_ROTATION_DAYS);

export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('Expected a positive whole number.');
}

/** The recipients of a value. */
export interface RecipientOptions {
  readonly consumer?: readonly string[];
  readonly recipient?: readonly string[];
  readonly keepReadableCopy?: boolean;
  readonly acceptKey?: readonly string[];
}

export const addRecipientOptions = (command: Command): Command =>
  command
    .option('--consumer <consumer>', 'repository or host that reads the value; repeatable', collectValues)
    .option('--recipient <key>', 'further public key to seal to: age1…, or ssh-…; repeatable', collectKeys)
    .option('--accept-key <key>', 'changed public key to accept, or its SHA256 fingerprint; repeatable', collectValues);

/** The source of a value. Never an argument, which other users of the machine can see. */
export interface ValueOptions {
  readonly file?: string;
  readonly sealed?: true;
  readonly allowEmpty?: true;
}

export const addValueOptions = (command: Command): Command =>
  command
    .option('--file <file>', 'file with the value (default: standard input)')
    .option('--sealed', 'the value is an age file already; store it unchanged')
    .option('--allow-empty', 'allow a value of zero bytes');

/** Selects a variant. */
export const addIdOption = (command: Command): Command =>
  command.option('--id <id>', 'id of the variant, if the secret has several');

/** Returns a copy without the undefined members. */
export const omitUndefined = <T extends object>(object: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
