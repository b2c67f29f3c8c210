/** Formats rows of texts as CSV (RFC 4180), with a heading and CRLF line ends. */
export const toCsv = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, ...rows].map((cells) => `${cells.map(toCell).join(',')}\r\n`).join('');

/** Spreadsheets run texts that begin with these characters as formulas, and titles come from other people. */
const FORMULA = /^[=+\-@\t\r]/;

function toCell(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text);
  const safe = !isNumber && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
