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
