import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { type CommandContext, withContext } from './context.js';
import { findSecret } from './objects.js';
import { EXIT, addIdOption, collectValues } from './options.js';
import { createMemoryFolder } from './run/secret-files.js';
import { addConnectionOptions, type ConnectionOptions, nonEmpty, withoutCredentials } from './settings.js';
import type { Terminal } from './terminal.js';
import { describeStored, openCurrentValue, sealReplacement } from './values.js';

interface EditOptions extends ConnectionOptions {
  readonly id?: string;
  readonly acceptKey?: readonly string[];
  readonly allowEmpty?: true;
}

/** `trellis secrets edit`: opens a value in an editor, and replaces it by the edited text. */
export function addEditCommand(secrets: Command, terminal: Terminal): void {
  const edit = addIdOption(secrets.command('edit'))
    .description('Edit a value in $VISUAL or $EDITOR; the previous value becomes a version')
    .argument('<secret>', 'name of the secret')
    .option('--accept-key <key>', 'changed public key to accept, or its SHA256 fingerprint; repeatable', collectValues)
    .option('--allow-empty', 'allow a value of zero bytes')
    .addHelpText(
      'after',
      `
The value is in a file in memory while the editor runs; the file remains if the edited value can't be stored. A line
break that the editor adds to the end is not stored.

Example:
  EDITOR=nano trellis secrets edit app-config`,
    );
  addConnectionOptions(edit).action((slug: string, flags: EditOptions) =>
    withContext(terminal, flags, (session) => editValue(session, slug, flags)),
  );
}

async function editValue(session: CommandContext, slug: string, flags: EditOptions): Promise<void> {
  const object = await findSecret(session, slug, flags.id);
  const before = Buffer.from(await openCurrentValue(session, object, flags.acceptKey));
  const memory = await createMemoryFolder(session.terminal.env);
  const file = join(memory.folder, slug);
  try {
    const after = withoutAddedBreak(before, await editBytes(session.terminal, file, before));
    if (after.equals(before)) {
      await session.report('The value was not changed.', object);
      return;
    }
    if (after.length === 0 && !flags.allowEmpty) {
      throw new CommandError('The value is empty; nothing was stored. Use --allow-empty to store it', EXIT.usage);
    }
    const { acceptKey } = flags;
    const replacement = { value: after, flags: { acceptKey, reseal: true as const } };
    const stored = await sealReplacement(session, object, replacement).catch(async (error: unknown) => {
      await writeFile(file, after);
      memory.keep();
      session.say(
        `The edited value is in memory, in ${file}. Store it with "trellis secrets rotate ${slug} < ${file}", then delete the file.`,
      );
      throw error;
    });
    const text = `Replaced the value of ${describeStored(stored)}. "trellis secrets restore" restores the previous one.`;
    await session.report(text, stored);
  } finally {
    await memory.remove();
  }
}

/** Editors end the last line of a file with a line break. */
function withoutAddedBreak(before: Buffer, after: Buffer): Buffer {
  const isAdded = after.at(-1) === LINE_BREAK && before.at(-1) !== LINE_BREAK;
  return isAdded ? after.subarray(0, -1) : after;
}

const LINE_BREAK = 10;

/** Well above the limit of the service, which reports a value that is too large. */
const MAX_BYTES = 10 * 2 ** 20;

async function editBytes(terminal: Terminal, file: string, value: Buffer): Promise<Buffer> {
  await writeFile(file, value, { mode: 0o600, flag: 'wx' });
  await runEditor(terminal, file);
  const edited = await readFile(file);
  if (edited.length <= MAX_BYTES) return edited;
  throw new CommandError(`Expected at most ${MAX_BYTES} bytes`, EXIT.usage);
}

/** Runs the editor, whose setting may have arguments, as git does. Signals of the terminal reach it directly. */
function runEditor({ env }: Terminal, file: string): Promise<void> {
  const editor = nonEmpty(env.VISUAL) ?? nonEmpty(env.EDITOR) ?? 'vi';
  const ignore = (): void => undefined;
  for (const signal of INTERRUPTS) process.on(signal, ignore);
  return new Promise<void>((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], {
      stdio: 'inherit',
      env: withoutCredentials(env),
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      const reason = `the editor "${editor}" ended with ${signal ?? `exit code ${code ?? 'unknown'}`}`;
      if (code === 0) resolve();
      else reject(new CommandError(`Nothing was stored: ${reason}`, EXIT.failed));
    });
  }).finally(() => {
    for (const signal of INTERRUPTS) process.off(signal, ignore);
  });
}

const INTERRUPTS = ['SIGINT', 'SIGQUIT'] as const;
