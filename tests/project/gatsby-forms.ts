/** The forms of Gatsby in a row of a table of docs/gatsby.md, and those of Trellis. */
export interface FormRow {
  readonly gatsby: readonly string[];
  readonly trellis: readonly string[];
}

/** Reads the code in the first two columns of the table below a heading. */
export function readFormRows(page: string, heading: string): readonly FormRow[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const rows = own.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'));
  return rows.map((row) => {
    const [, gatsby = '', trellis = ''] = row.split(/(?<!\\)\|/u);
    return { gatsby: listCode(gatsby), trellis: listCode(trellis) };
  });
}

const listCode = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code.replaceAll('\\|', '|'));
