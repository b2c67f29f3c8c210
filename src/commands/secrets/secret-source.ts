import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { CommandError } from '../../config/startup-error.js';
import { EXIT } from './exit-codes.js';

/** The source of a credential: its text, a file, or a command that prints it. */
export type SecretSource = { readonly text: string } | { readonly file: string } | { readonly command: string };

/** Time to type a passphrase. */
const COMMAND_TIMEOUT_MS = 300_000;

/** A token has 54 characters, an identity file a few hundred. */
const MAX_LENGTH = 65_536;

/**
 * Reads a credential. Messages contain its name, `what`, and never its value.
 *
 * @throws CommandFailure when the file or the command returns none.
 */
export async function readSecretSource(source: SecretSource, what: string): Promise<string> {
  const text = 'text' in source ? source.text : await readOther(source, what);
  if (text.trim() === '') throw new CommandError(`Can't read ${what}: ${describe(source)} is empty`, EXIT.refused);
  return text.trim();
}

async function readOther(source: Exclude<SecretSource, { readonly text: string }>, what: string): Promise<string> {
  if ('command' in source) return runSource(source.command, what);
  return readFile(source.file, 'utf8').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`Can't read ${what} from ${source.file}: ${code ?? 'unknown error'}`, EXIT.refused);
  });
}

const describe = (source: SecretSource): string =>
  'file' in source ? source.file : 'command' in source ? 'the output of its command' : 'the given value';

/** Standard error is shown to the user. Standard input may carry the value, so the command gets none. */
function runSource(command: string, what: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new CommandError(`Can't read ${what} from its command: ${why}`, EXIT.refused));
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
    child.on('error', (error) => fail((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    child.on('close', (code, signal) => {
      if (code === 0 && text.length <= MAX_LENGTH) resolve(text);
      else if (text.length > MAX_LENGTH) fail(`it printed more than ${MAX_LENGTH} characters`);
      else if (signal === 'SIGTERM') fail(`it took longer than ${COMMAND_TIMEOUT_MS / 1000} seconds, or was ended`);
      else fail(`it ended with ${signal ?? `exit code ${code ?? 'unknown'}`}`);
    });
  });
}
