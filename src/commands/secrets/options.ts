import { type Command, InvalidArgumentError } from 'commander';

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

/** Parses the days until a value is due for rotation; ten years is the limit of the contract. */
export const parseRotation = parseDays(3650);

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
