import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandError } from '../../config/startup-error.js';
import { EXIT, type ValueOptions } from './options.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The streams and the environment of a command; tests provide their own. */
export interface Terminal {
  readonly in: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly err: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: Environment;
  /** The release of a program that is one file, without the package that names it. */
  readonly release?: string;
  /** Whether errors are reported as JSON. */
  readonly json?: boolean;
  /** Waits for some milliseconds; tests replace it. */
  readonly sleep?: (ms: number) => Promise<void>;
}

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
 * Reads a text like {@link readValue}.
 *
 * @throws CommandError also for other encodings, whose characters would be lost.
 */
export async function readText(file: string, terminal: Pick<Terminal, 'in'>, maxBytes?: number): Promise<string> {
  const bytes = await readValue(file, terminal, maxBytes);
  if (isUtf8(bytes)) return bytes.toString();
  throw new CommandError(`${file === '-' ? 'Standard input' : file} is not UTF-8 text; convert it first`, EXIT.usage);
}

/**
 * Reads the value of a secret; on a terminal, a line that is not shown. Without `allowEmpty` zero bytes are rejected, as
 * they are nearly always the output of a failed command.
 *
 * @throws CommandFailure as {@link readValue}, and for an empty value.
 */
export async function readSecretValue({ file, sealed, allowEmpty }: ValueOptions, terminal: Terminal): Promise<Buffer> {
  const isTyped = file === undefined && terminal.in.isTTY === true && sealed === undefined;
  const value = isTyped
    ? Buffer.from(await promptLine(terminal, 'Value (not shown; one line)'))
    : await readValue(file, terminal);
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

/** The exit code of shells for SIGINT. */
const INTERRUPTED = 130;

/** Prompts the user. Empty input selects the default in brackets. */
export async function prompt(terminal: Terminal, question: string, fallback = ''): Promise<string> {
  const reader = createInterface({ input: terminal.in, output: terminal.err, terminal: terminal.in.isTTY === true });
  const shown = fallback === '' ? `${question}: ` : `${question} [${fallback}]: `;
  return (await readAnswer(reader, shown)).trim() || fallback;
}

/**
 * Prompts for a secret, without echo. `@inquirer/password` shows the typed text at Ctrl+T and draws anew at each key, and
 * its current release requires Node 22.
 */
export async function promptHidden(terminal: Terminal, question: string): Promise<string> {
  return (await promptLine(terminal, question)).trim();
}

/** Prompts for a line without echo, and returns it exactly as typed. */
async function promptLine({ in: input, err }: Terminal, question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Set before the prompt, as it turns the echo off.
  const reader = createInterface({ input, output, terminal: input.isTTY === true });
  err.write(`${question}: `);
  const answer = await readAnswer(reader, '');
  err.write('\n');
  return answer;
}

/**
 * Asks for confirmation of an action that can't be undone.
 *
 * @throws CommandFailure unless the user confirms, or with `--yes`.
 */
export async function confirm(
  { in: input, err }: Terminal,
  { question, yes }: { readonly question: string; readonly yes: true | undefined },
): Promise<void> {
  if (yes) return;
  if (!input.isTTY) throw new CommandError('Not a terminal: confirm with --yes', EXIT.usage);
  const answer = await readAnswer(createInterface({ input, output: err }), `${toPrintable(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Cancelled; nothing was changed', EXIT.failed);
}

/** Rejects at Ctrl+C and when the input ends; an open prompt would then end the process silently. */
async function readAnswer(reader: Interface, question: string): Promise<string> {
  const ended = new Promise<never>((_resolve, reject) => void reader.once('SIGINT', reject).once('close', reject));
  try {
    return await Promise.race([reader.question(question), ended]);
  } catch {
    throw new CommandError('Interrupted; nothing was written', INTERRUPTED);
  } finally {
    reader.close();
  }
}

/** Replaces control characters, which can manipulate a terminal. Names and descriptions are untrusted. */
export const stripControlCharacters = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');

/** Does the same for a text of several lines. */
export const toPrintable = (text: string): string => text.split('\n').map(stripControlCharacters).join('\n');

/** Formats rows under their headings, or returns the sentence for an empty list. A cell may have several lines. */
export async function toTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): Promise<string> {
  if (rows.length === 0) return `${none}\n`;
  const { default: Table } = await import('cli-table3');
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) table.push(row.map(toPrintable));
  return `${table.toString()}\n`;
}

/** Formats JSON, and escapes the control characters that JSON allows. */
export const toJson = (value: unknown, indent = 2): string =>
  `${JSON.stringify(value, undefined, indent).replace(/[\u007f-\u009f]/g, toEscape)}\n`;

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

export const toDateText = (time: string | undefined): string => time?.slice(0, 10) ?? '';

/** Waits until everything is written, as the process may end right after. */
export function writeOutput(out: NodeJS.WritableStream, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(content, (error) => (error ? reject(error) : resolve()));
  });
}
