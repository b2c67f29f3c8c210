import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Board, formatRepository } from '../board/data/rows.js';
import { TableHead } from '../ui/headings.js';
import { formatDate } from '../ui/times.js';
import { findCiPart } from './chart-data.js';
import { findRows, ROW_COLUMNS, toRowCells } from './drill-down.js';
import { ExportButton } from './export-button.js';
import { hideRows, insightsState } from './insights-state.js';

/** More rows would make the dialog slow; the export has all of them. */
const MAX_SHOWN = 200;

/** A dialog with the pull requests or issues behind a figure, while the address names one. */
export function RowsDialog({ board }: { readonly board: Board }) {
  const found = findRows(board, insightsState.value);
  return found && <Dialog title={found.title} rows={found.rows} />;
}

type DialogProps = NonNullable<ReturnType<typeof findRows>>;

function Dialog({ title, rows }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="rows-dialog" aria-labelledby={id} onClose={hideRows}>
      <h2 id={id}>
        <bdi>{title}</bdi>
      </h2>
      <p class="quiet" role="status">
        {rows.length === 1 ? '1 row' : `${rows.length.toLocaleString()} rows`}
        {rows.length > MAX_SHOWN && `, the oldest ${MAX_SHOWN} are shown`}
      </p>
      <div class="wide" tabIndex={0} role="region" aria-label="Rows">
        <table>
          <TableHead names={['Title', 'Repository', 'Author', 'Created', 'CI']} />
          <tbody>
            {rows.slice(0, MAX_SHOWN).map((row) => (
              <tr key={row.url}>
                <td>
                  <a href={row.url} target="_blank" rel="noreferrer">
                    <bdi>{row.title}</bdi>
                  </a>{' '}
                  <span class="quiet">#{row.number}</span>
                </td>
                <td>{formatRepository(row)}</td>
                <td>
                  <bdi>{row.author}</bdi>
                </td>
                <td>{formatDate(row.createdAt)}</td>
                <td>{'ci' in row ? findCiPart(row) : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="acts">
        <ExportButton name={title} columns={ROW_COLUMNS} rows={() => rows.map(toRowCells)} />
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}
