import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { base32 } from '@scure/base';
import type { Environment } from '../terminal.js';

interface BoundedCommand {
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly env: Environment;
  readonly timeoutMs: number;
  /** The most bytes of each stream to keep: the last ones. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface BoundedResult {
  /** Undefined if a signal ended the program. */
  readonly exitCode: number | undefined;
  readonly exitSignal: string | undefined;
  readonly isTimedOut: boolean;
  readonly stdout: Captured;
  readonly stderr: Captured;
}

/** The end of a stream. */
export interface Captured {
  readonly bytes: Buffer;
  readonly totalBytes: number;
}

/** The time that a program has to end after SIGTERM, and its pipes to close after its end. */
const GRACE_MS = 2000;

/**
 * Runs a program without standard input, in a process group of its own. The group is ended at a timeout and when the
 * signal aborts: by SIGTERM, then by SIGKILL.
 *
 * @throws Error with a `code` if the program can't be started.
 */
export async function runBounded(options: BoundedCommand): Promise<BoundedResult> {
  const { command, folder, env, timeoutMs, maxBytes, signal } = options;
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const [stdout, stderr] = [capture(child.stdout, maxBytes), capture(child.stderr, maxBytes)];
  let isTimedOut = false;
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    killGroup(child, 'SIGTERM');
    killing ??= setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS);
  };
  const timer = setTimeout(() => {
    isTimedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    const { exitCode, exitSignal } = await waitForEnd(child);
    return { exitCode, exitSignal, isTimedOut, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    clearTimeout(killing);
    signal.removeEventListener('abort', end);
  }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Waits for the end of a program and of its output. A process that it left behind may hold the pipes for ever. */
function waitForEnd(child: ChildProcess): Promise<Pick<BoundedResult, 'exitCode' | 'exitSignal'>> {
  return new Promise((resolve, reject) => {
    let closing: NodeJS.Timeout | undefined;
    child.once('error', reject);
    child.once('exit', () => {
      // Processes that the program left in its group.
      killGroup(child, 'SIGKILL');
      closing = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, GRACE_MS);
    });
    child.once('close', (code, signal) => {
      clearTimeout(closing);
      resolve({ exitCode: code ?? undefined, exitSignal: signal ?? undefined });
    });
  });
}

/** Keeps the last bytes of a stream. */
function capture(stream: Readable | null, maxBytes: number): () => Captured {
  const chunks: Buffer[] = [];
  let kept = 0;
  let totalBytes = 0;
  stream?.on('error', () => undefined);
  stream?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    totalBytes += chunk.length;
    kept += chunk.length;
    while (chunks[0] !== undefined && kept - chunks[0].length >= maxBytes) kept -= chunks.shift()?.length ?? 0;
  });
  return () => ({ bytes: Buffer.concat(chunks).subarray(-maxBytes), totalBytes });
}

const REPLACEMENT = '***';

/** Parts of a value of this length are replaced; shorter parts also occur in harmless output. */
export const MIN_HIDDEN = 8;

interface MaskedText {
  /** The bytes with each part of a value replaced. */
  readonly bytes: Buffer;
  /** The number of replaced parts. */
  readonly count: number;
}

/**
 * Replaces every part of at least 8 characters of a value in a whole text. Unlike `OutputMask`, it also finds parts of
 * values, values in other data that is encoded as base64, base32 or hexadecimal, escaped and reversed values, and all of
 * these in upper or lower case and with characters between that are neither letters nor digits, such as line breaks.
 */
export class TextMask {
  /** Parts of the values, and of the values without other characters than letters and digits. */
  readonly #exact = new Set<string>();
  readonly #squeezed = new Set<string>();

  constructor(values: readonly string[]) {
    for (const form of values.flatMap(toForms).map((form) => form.toLowerCase())) {
      addParts(this.#exact, form);
      addParts(this.#squeezed, form.replace(SEPARATORS, ''));
    }
  }

  mask(bytes: Uint8Array): MaskedText {
    const text = Buffer.from(bytes).toString('latin1');
    const hidden = this.#findHidden(text.toLowerCase());
    let masked = '';
    let count = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (hidden[at] === 0) masked += text.charAt(at);
      else if (at === 0 || hidden[at - 1] === 0) {
        masked += REPLACEMENT;
        count += 1;
      }
    }
    return { bytes: Buffer.from(masked, 'latin1'), count };
  }

  /** Returns 1 for each character that belongs to a value. */
  #findHidden(text: string): Uint8Array {
    const hidden = new Uint8Array(text.length);
    for (let at = 0; at + MIN_HIDDEN <= text.length; at += 1) {
      if (this.#exact.has(text.slice(at, at + MIN_HIDDEN))) hidden.fill(1, at, at + MIN_HIDDEN);
    }
    const positions = [...text.matchAll(LETTERS)].map(({ index }) => index);
    const squeezed = text.replace(SEPARATORS, '');
    for (let at = 0; at + MIN_HIDDEN <= squeezed.length; at += 1) {
      if (!this.#squeezed.has(squeezed.slice(at, at + MIN_HIDDEN))) continue;
      hidden.fill(1, positions[at], (positions[at + MIN_HIDDEN - 1] ?? 0) + 1);
    }
    return hidden;
  }
}

const LETTERS = /[a-z0-9]/g;

const SEPARATORS = /[^a-z0-9]+/g;

function addParts(parts: Set<string>, text: string): void {
  for (let at = 0; at + MIN_HIDDEN <= text.length; at += 1) parts.add(text.slice(at, at + MIN_HIDDEN));
}

/** Returns the usual encodings of a value, as one character for each byte. */
function toForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const text = bytes.toString('latin1');
  return [
    text,
    Array.from(text).reverse().join(''),
    toLatin1(JSON.stringify(value).slice(1, -1)),
    encodeURIComponent(value),
    bytes.toString('hex'),
    ...[0, 1, 2].map((offset) => encodeAt(bytes, offset, { unit: 4 / 3, encode: (all) => all.toString('base64') })),
    ...[0, 1, 2, 3, 4].map((offset) => encodeAt(bytes, offset, { unit: 8 / 5, encode: (all) => base32.encode(all) })),
  ];
}

const toLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

interface Encoding {
  /** The characters of a byte. */
  readonly unit: number;
  readonly encode: (bytes: Buffer) => string;
}

/** Encodes a value after some other bytes, without the characters that also contain bits of other data. */
function encodeAt(bytes: Buffer, offset: number, { unit, encode }: Encoding): string {
  const text = encode(Buffer.concat([Buffer.alloc(offset), bytes])).replace(/=+$/, '');
  return text.slice(Math.ceil(offset * unit), Math.floor((offset + bytes.length) * unit));
}
