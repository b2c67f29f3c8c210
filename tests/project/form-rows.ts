/** The tables of a guide that show the forms of a different tool beside those of Trellis. */

/** The forms in the first two columns of a row. */
export interface FormRow {
  readonly other: readonly string[];
  readonly trellis: readonly string[];
}

/** Reads the code in the first two columns of the table below a heading. */
export function readFormRows(page: string, heading: string): readonly FormRow[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const rows = own.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'));
  return rows.map((row) => {
    const [, other = '', trellis = ''] = row.split(/(?<!\\)\|/u);
    return { other: listCode(other), trellis: listCode(trellis) };
  });
}

const listCode = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code.replaceAll('\\|', '|'));
