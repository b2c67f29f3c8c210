import { open } from 'node:fs/promises';
import { CommandError } from '../../config/startup-error.js';
import { EXIT } from './exit-codes.js';
import type { ValueOptions } from './options.js';
import type { Terminal } from './terminal.js';

/** Ten times the limit of the service, so that reading from an endless device stops. */
const MAX_BYTES = 10 * 2 ** 20;

/**
 * Reads a value from a file or from standard input.
 *
 * @throws CommandFailure when the file can't be read or is too large, and when standard input is
 * a terminal, where typing would show the value.
 */
export async function readValue(
  file: string | undefined,
  terminal: Pick<Terminal, 'in'>,
  maxBytes = MAX_BYTES,
): Promise<Buffer> {
  if (file !== undefined && file !== '-') return readFileValue(file, maxBytes);
  if (terminal.in.isTTY) {
    throw new CommandError('Pipe the value to standard input, or use --file', EXIT.usage);
  }
  return collect(terminal.in as AsyncIterable<Buffer | string>, maxBytes);
}

/**
 * Reads the value of a secret. Without `allowEmpty` zero bytes are rejected, as they are nearly always
 * the output of a failed command.
 *
 * @throws CommandFailure as {@link readValue}, and for an empty value.
 */
export async function readSecretValue(
  { file, allowEmpty }: ValueOptions,
  terminal: Pick<Terminal, 'in'>,
): Promise<Buffer> {
  const value = await readValue(file, terminal);
  if (value.byteLength > 0 || allowEmpty) return value;
  throw new CommandError('The value is empty; nothing was stored. Use --allow-empty to store it', EXIT.usage);
}

async function readFileValue(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file).catch((error: unknown) => throwUnreadable(error, file));
  try {
    return await collect(handle.createReadStream({ autoClose: false }), maxBytes);
  } catch (error) {
    return throwUnreadable(error, file);
  } finally {
    await handle.close();
  }
}

async function collect(chunks: AsyncIterable<Buffer | string>, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const part = Buffer.from(chunk);
    size += part.byteLength;
    if (size > maxBytes) throw new CommandError(`Expected at most ${maxBytes} bytes`, EXIT.usage);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function throwUnreadable(error: unknown, file: string): never {
  if (error instanceof CommandError) throw error;
  const { code } = error as NodeJS.ErrnoException;
  throw new CommandError(`${file}: the file can't be read: ${code ?? 'unknown error'}`, EXIT.usage);
}
