import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CommandError } from '../../../config/startup-error.js';
import { needsAgeProgram } from '../../../sealing/known-keys.js';
import { SealingError } from '../../../sealing/sealing-error.js';
import { EXIT } from '../options.js';
import { type SecretSource, withoutCredentials } from '../settings.js';
import type { Terminal } from '../terminal.js';

/** Seals a value to public keys, with the program `age` if one of them needs it. */
export const createSealer =
  (terminal: Terminal) =>
  async (value: Uint8Array | string, recipients: readonly string[]): Promise<Uint8Array> => {
    const foreign = recipients.filter((recipient) => recipient.startsWith('age1') || recipient.startsWith('ssh-'));
    // The library reports a text that is no public key without quoting an identity.
    if (foreign.length < recipients.length || !recipients.some(needsAgeProgram))
      return (await import('../../../sealing/secrets.js')).seal(value, recipients);
    const args = ['--encrypt', ...recipients.flatMap((recipient) => ['--recipient', recipient])];
    return runAge(args, { input: value, terminal });
  };

/**
 * Opens a value with SSH keys or identities of plugins. The program gets the identity on standard input, and the sealed
 * value as a file of its own.
 *
 * @throws SealingError `no_match` for a value that is sealed to other keys.
 */
export async function openWithAge(sealed: Uint8Array, identity: string, terminal: Terminal): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'trellis-sealed-'));
  try {
    const file = join(folder, 'value.age');
    await writeFile(file, sealed, { mode: 0o600 });
    return await runAge(['--decrypt', '--identity', '-', file], { input: `${identity}\n`, terminal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens an identity that is encrypted with a passphrase, by `age -p`. The program asks for the passphrase at the terminal. */
export async function openIdentity(text: string, source: SecretSource, terminal: Terminal): Promise<string> {
  const file = 'file' in source ? [resolve(source.file)] : [];
  const identity = await runAge(['--decrypt', ...file], { input: text, terminal });
  return Buffer.from(identity).toString();
}

interface AgeInput {
  readonly input: Uint8Array | string;
  readonly terminal: Terminal;
}

/** The limit of the service for sealed values, which values of secrets do not exceed either. */
const MAX_BYTES = 2 ** 20;

/** Time to type a passphrase or touch a token. */
const TIMEOUT_MS = 300_000;

const STOPPED = `The program "age" was stopped: it did not finish within ${TIMEOUT_MS / 60_000} minutes`;

/** Messages of `age` are short; prompts of plugins too. */
const MAX_MESSAGES = 16_384;

/** Runs `age`, and shows its messages, which may ask for a touch. @throws CommandError if it fails or is missing. */
async function runAge(args: readonly string[], { input, terminal }: AgeInput): Promise<Uint8Array> {
  const env = withoutCredentials(terminal.env);
  const child = spawn('age', args, { stdio: 'pipe', env, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const output: Buffer[] = [];
  let size = 0;
  let messages = '';
  const ended = new Promise<number | string>((resolve) => {
    child.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'it could not be started'));
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BYTES) child.kill();
    else output.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (messages.length > MAX_MESSAGES) return;
    messages += chunk;
    // The error is reported in our own message; the rest is a prompt.
    terminal.err.write(withoutIdentities(chunk.replace(/^age: (?:error|report)\b.*\n?/gm, '')));
  });
  // A program that ends early is reported by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await ended;
  if (code === 0 && size <= MAX_BYTES) return Buffer.concat(output);
  if (size > MAX_BYTES) throw new SealingError('too_large', `Expected at most ${MAX_BYTES} bytes.`);
  throw toFailure(code, messages);
}

function toFailure(code: number | string, messages: string): Error {
  if (code === 'ENOENT') {
    const needed = 'SSH keys and keys of age plugins need the program "age" (1.1 or newer)';
    return new CommandError(`${needed}, which is not in PATH`, EXIT.usage);
  }
  if (code === 'ABORT_ERR') return new CommandError(STOPPED, EXIT.failed);
  if (messages.includes('no identity matched'))
    return new SealingError('no_match', "This identity can't decrypt the value.");
  const [, reason] = /^age: (?:error: )?(.+)$/m.exec(messages) ?? [];
  const isInvalidKey = reason !== undefined && /^(?:malformed|unknown)\b.*recipient/.test(reason);
  return new CommandError(
    `The program "age" failed: ${withoutIdentities(reason ?? String(code))}`,
    isInvalidKey ? EXIT.usage : EXIT.failed,
  );
}

/** Replaces identities, in case a message quotes one. */
const withoutIdentities = (text: string): string =>
  text.replace(/age-(?:secret-key|plugin)-[a-z0-9-]*1[02-9ac-hj-np-z]{6,}/gi, '***');
