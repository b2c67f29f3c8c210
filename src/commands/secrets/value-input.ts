import { open } from 'node:fs/promises';
import { CommandFailure } from '../../start-error.js';
import { EXIT } from './exit-codes.js';
import type { ValueFlags } from './options.js';
import type { Terminal } from './terminal.js';

/** Ten times what the service takes: nothing of that size gets through, and a device without an end is left. */
const MAX_BYTES = 10 * 2 ** 20;

/**
 * Reads a value, every byte of it, from a file or from standard input.
 *
 * @throws CommandFailure when the file can't be read, for more bytes than these, and when a
 * person would have to type it, where it would be seen.
 */
export async function readValue(
  file: string | undefined,
  terminal: Pick<Terminal, 'in'>,
  maxBytes = MAX_BYTES,
): Promise<Buffer> {
  if (file !== undefined && file !== '-') return readFileValue(file, maxBytes);
  if (terminal.in.isTTY) {
    throw new CommandFailure('expected the value on standard input, or --file; none is typed here', EXIT.usage);
  }
  return collect(terminal.in as AsyncIterable<Buffer | string>, maxBytes);
}

/**
 * Reads the value of a secret. Without `allowEmpty` zero bytes are refused: they are nearly always the
 * output of a command that failed.
 *
 * @throws CommandFailure as {@link readValue}, and for an empty value.
 */
export async function readSecretValue(
  { file, allowEmpty }: ValueFlags,
  terminal: Pick<Terminal, 'in'>,
): Promise<Buffer> {
  const value = await readValue(file, terminal);
  if (value.byteLength > 0 || allowEmpty) return value;
  throw new CommandFailure('the value is empty; nothing was stored. Use --allow-empty to store it', EXIT.usage);
}

async function readFileValue(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file).catch((error: unknown) => refuse(error, file));
  try {
    return await collect(handle.createReadStream({ autoClose: false }), maxBytes);
  } catch (error) {
    return refuse(error, file);
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
    if (size > maxBytes) throw new CommandFailure(`expected at most ${maxBytes} bytes`, EXIT.usage);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function refuse(error: unknown, file: string): never {
  if (error instanceof CommandFailure) throw error;
  const { code } = error as NodeJS.ErrnoException;
  throw new CommandFailure(`${file}: expected a file that can be read; ${code ?? 'it can not be'}`, EXIT.usage);
}
