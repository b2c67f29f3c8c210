const REPLACEMENT = '***';

/** Shorter values also occur in harmless output, where `***` would only reveal them. */
export const MIN_MASKED = 4;

/** The shortest line of a value of several lines that is masked alone. */
const MIN_LINE = 8;

/**
 * Replaces values in a stream of bytes, also values that are split between chunks. The base64 of a value, and the lines
 * of a value of several lines, are replaced too.
 */
export class OutputMask {
  readonly #pattern: RegExp | undefined;
  readonly #needles: readonly string[];
  /** The end of the stream so far that may be the beginning of a value; one character for each byte. */
  #rest = '';

  constructor(values: readonly string[]) {
    this.#needles = toNeedles(values);
    const alternatives = this.#needles.map((needle) => needle.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
    this.#pattern = alternatives.length === 0 ? undefined : new RegExp(alternatives.join('|'), 'g');
  }

  /** Adds a chunk and returns the bytes that can be written. */
  push(chunk: Uint8Array): Buffer {
    const text = this.#rest + Buffer.from(chunk).toString('latin1');
    const open = this.#findOpen(text);
    // A value that starts before the open end is complete.
    const { done, end } = this.#replace(text, open);
    this.#rest = text.slice(end);
    return Buffer.from(done, 'latin1');
  }

  /** Returns the last bytes of the stream. */
  end(): Buffer {
    const { done } = this.#replace(this.#rest, this.#rest.length);
    this.#rest = '';
    return Buffer.from(done, 'latin1');
  }

  /** Returns the first position from which the text may be the beginning of a value. */
  #findOpen(text: string): number {
    const longest = this.#needles[0]?.length ?? 0;
    for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
      const tail = text.slice(at);
      if (this.#needles.some((needle) => needle.length > tail.length && needle.startsWith(tail))) return at;
    }
    return text.length;
  }

  #replace(text: string, limit: number): { readonly done: string; readonly end: number } {
    let done = '';
    let end = 0;
    for (const match of this.#pattern === undefined ? [] : text.matchAll(this.#pattern)) {
      if (match.index >= limit) break;
      done += text.slice(end, match.index) + REPLACEMENT;
      end = match.index + match[0].length;
    }
    const until = Math.max(end, limit);
    return { done: done + text.slice(end, until), end: until };
  }
}

/** Returns the texts to replace as bytes, longest first, so that the longest of several matches is replaced. */
function toNeedles(values: readonly string[]): readonly string[] {
  const texts = values.flatMap((value) => {
    const trimmed = value.trim();
    const lines = trimmed.split(/\r?\n/).filter((line) => line.length >= MIN_LINE);
    return [value, trimmed, ...lines, Buffer.from(value).toString('base64'), Buffer.from(trimmed).toString('base64')];
  });
  const needles = new Set(texts.filter((text) => text.trim().length >= MIN_MASKED).map(toBytes));
  return [...needles].sort((one, other) => other.length - one.length);
}

const toBytes = (text: string): string => Buffer.from(text).toString('latin1');
