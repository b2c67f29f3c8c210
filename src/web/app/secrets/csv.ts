/** Formats rows as CSV (RFC 4180). Cells that a spreadsheet would evaluate as a formula get the prefix `'`. */
export function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Partial<Record<Column, number | string>>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => toCell(row[column] ?? '')));
  return [columns, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}

function toCell(value: number | string): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
