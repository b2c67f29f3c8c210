/** What one event says; the last of each field counts, and lines of data are joined. */
export interface EventFields {
  readonly id?: string;
  readonly data?: string;
  readonly retryMs?: number;
}

const LINE_END = /\r\n|\n|\r/;

/** A blank line, and the end of the line before it; at most four characters. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n|$)){2}/g;

/**
 * The length of the first whole event, its blank line included; 0 while there is none.
 *
 * @param searched How much of the text's beginning was without one before the rest of it came: an event of millions of
 * characters comes in many pieces, and is searched once.
 */
export function findEnd(text: string, searched = 0): number {
  const blankLine = new RegExp(BLANK_LINE);
  blankLine.lastIndex = Math.max(0, searched - 3);
  return blankLine.test(text) ? blankLine.lastIndex : 0;
}

/** Reads one event's lines. Comments and fields that are not known are passed over. */
export function parseEvent(text: string): EventFields {
  const data: string[] = [];
  const fields: { id?: string; retryMs?: number } = {};
  for (const line of text.split(LINE_END)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    if (name === 'id' && !value.includes('\0')) fields.id = value;
    if (name === 'retry' && /^\d+$/.test(value)) fields.retryMs = Number(value);
  }
  return data.length === 0 ? fields : { ...fields, data: data.join('\n') };
}
