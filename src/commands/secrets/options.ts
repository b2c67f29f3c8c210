import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';

/** Takes an option as often as it is given. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Ten years for a value, as in the contract. */
export const parseDays =
  (most: number) =>
  (text: string): number => {
    const days = Number(text);
    if (/^\d+$/.test(text) && days >= 1 && days <= most) return days;
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${most}.`);
  };

export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('Expected a whole number from 1.');
}

/** Whom a value is sealed to. */
export interface ReaderFlags {
  readonly consumer?: readonly string[];
  readonly recipient?: readonly string[];
  readonly keepReadableCopy?: boolean;
  readonly acceptKey?: readonly string[];
}

export const withReaders = (command: Command): Command =>
  command
    .option('--consumer <consumer>', 'a repository or host that depends on it; repeat it for several', collect)
    .option('--recipient <key>', 'a further public key (age1…) to seal to; repeat it for several', collect)
    .option(
      '--accept-key <key>',
      'a public key, or its SHA256 fingerprint, to accept although it has changed',
      collect,
    );

/** Where a value comes from: never from an argument, which others on the machine can see. */
export interface ValueFlags {
  readonly file?: string;
  readonly sealed?: true;
  readonly allowEmpty?: true;
}

export const withValue = (command: Command): Command =>
  command
    .option('--file <file>', 'the value, every byte of it (default: standard input)')
    .option('--sealed', 'the value is sealed already, as an age file; it is stored as it is')
    .option('--allow-empty', 'store a value of zero bytes, instead of refusing it');

/** Which of several variants of a name. */
export const withId = (command: Command): Command =>
  command.option('--id <id>', 'which variant of the name, where there are several');

/** An object whose undefined members are left out. */
export const defined = <T extends object>(object: T): { [Name in keyof T]: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as never;
