import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { CommandFailure } from '../../start-error.js';
import { EXIT } from './exit-codes.js';

/** Where a credential comes from. */
export type Source = { readonly text: string } | { readonly file: string } | { readonly command: string };

/** Time enough to type a passphrase. */
const COMMAND_TIMEOUT_MS = 300_000;

/** A token has 54 characters, a file of identities a few hundred. */
const MAX_LENGTH = 65_536;

/**
 * Reads a credential; `what` names it in messages, which never hold it.
 *
 * @throws CommandFailure when the file or the command gives none.
 */
export async function readSource(source: Source, what: string): Promise<string> {
  const text = 'text' in source ? source.text : await readOther(source, what);
  if (text.trim() === '') throw new CommandFailure(`expected ${what}; ${describe(source)} is empty`, EXIT.refused);
  return text.trim();
}

async function readOther(source: Exclude<Source, { readonly text: string }>, what: string): Promise<string> {
  if ('command' in source) return runSource(source.command, what);
  return readFile(source.file, 'utf8').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailure(`expected ${what} in ${source.file}; ${code ?? 'it can not be read'}`, EXIT.refused);
  });
}

const describe = (source: Source): string =>
  'file' in source ? source.file : 'command' in source ? 'what its command printed' : 'the one given';

/** What it says on standard error is for the person; standard input may carry the value, so it gets none. */
function runSource(command: string, what: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void =>
      reject(new CommandFailure(`expected ${what} from its command; ${why}`, EXIT.refused));
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: COMMAND_TIMEOUT_MS,
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_LENGTH) child.kill();
    });
    child.on('error', (error) => refuse((error as NodeJS.ErrnoException).code ?? 'it did not start'));
    child.on('close', (code, signal) => {
      if (code === 0 && text.length <= MAX_LENGTH) resolve(text);
      else refuse(`it ended with ${signal ?? code ?? 'nothing'}`);
    });
  });
}
