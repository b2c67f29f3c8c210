/** What one event says; the last of each field counts, and lines of data are joined. */
export interface EventFields {
  readonly id?: string;
  readonly data?: string;
  readonly retryMs?: number;
}

const LINE_END = /\r\n|\n|\r/;

/** The length of the first whole event, its blank line included; 0 while there is none. */
export function findEnd(text: string): number {
  const { index, 0: end = '' } = /(?:\r\n|\n|\r(?!\n|$)){2}/.exec(text) ?? { index: 0 };
  return end === '' ? 0 : index + end.length;
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
