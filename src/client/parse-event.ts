/** The fields of one server-sent event. The last value of each field wins, and data lines are joined. */
export interface SseFields {
  readonly id?: string;
  readonly data?: string;
  readonly retryMs?: number;
}

const LINE_END = /\r\n|\n|\r/;

/** A line end followed by a blank line; at most four characters. */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n|$)){2}/g;

/**
 * Returns the length of the first complete event with its blank line; 0 when the text contains no complete event.
 *
 * @param searched The length of the prefix that was already searched without a match. Skipping it keeps large events,
 * which arrive in many chunks, linear.
 */
export function findEventEnd(text: string, searched = 0): number {
  const blankLine = new RegExp(BLANK_LINE);
  blankLine.lastIndex = Math.max(0, searched - 3);
  return blankLine.test(text) ? blankLine.lastIndex : 0;
}

/** Parses the lines of one event. Comments and unknown fields are ignored. */
export function parseEvent(text: string): SseFields {
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
