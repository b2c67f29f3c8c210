import { toCsv } from './csv.js';

interface ExportButtonProps {
  /** The name of the data, from which the name of the file is made. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: () => readonly (readonly string[])[];
}

/** Saves rows as a CSV file. */
export function ExportButton({ name, columns, rows }: ExportButtonProps) {
  const save = (): void => {
    // Spreadsheets recognise UTF-8 by the byte order mark.
    const url = URL.createObjectURL(new Blob(['\ufeff', toCsv(columns, rows())], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `${toFileName(name)}.csv`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <button type="button" aria-label={`Export CSV: ${name}`} onClick={save}>
      Export CSV
    </button>
  );
}

const toFileName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
