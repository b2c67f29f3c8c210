import Table from 'cli-table3';

/** Names and descriptions come from others; control characters do harm in terminals. */
export const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');

/** Rows under their headings; a sentence when there are none. A cell may have several lines. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) table.push(row.map((cell) => cell.split('\n').map(clean).join('\n')));
  return `${table.toString()}\n`;
}

/** With escapes for what JSON lets stand and terminals obey. */
export const toJson = (value: unknown, indent = 2): string =>
  `${JSON.stringify(value, undefined, indent).replace(/[\u007f-\u009f]/g, toEscape)}\n`;

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

export const toDay = (time: string | undefined): string => time?.slice(0, 10) ?? '';
