import type { ComponentChildren } from 'preact';
import { useCallback, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { boardOwner } from '../board/data/board-store.js';
import { type Board, formatRepository, type PullRequest } from '../board/data/rows.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDate } from '../ui/times.js';
import { ExportButton } from './bar-chart.js';
import { findCiPart, findRows, hideRows, insightsState, period, ROW_COLUMNS, toRowCells } from './chart-data.js';
import {
  describeRows,
  formatSpan,
  MEASURE_TEXTS,
  type ReviewRow,
  toExportAddress,
  toReviewScope,
  toRowsQuery,
} from './reviews-data.js';

/** More rows would make the dialog slow; the export has all of them. */
const MAX_SHOWN = 200;

/** A dialog with the pull requests or issues behind a figure, while the address names one. */
export function RowsDialog({ board }: { readonly board: Board }) {
  const found = findRows(board, insightsState.value);
  return found && <Dialog title={found.title} rows={found.rows} />;
}

type DialogProps = NonNullable<ReturnType<typeof findRows>>;

function Dialog({ title, rows }: DialogProps) {
  const status = describeCount(rows.length, `the oldest ${MAX_SHOWN} are shown`);
  return (
    <RowsFrame
      title={title}
      status={status}
      acts={<ExportButton name={title} columns={ROW_COLUMNS} rows={() => rows.map(toRowCells)} />}
    >
      <table>
        <TableHead names={['Title', 'Repository', 'Author', 'Created', 'CI']} />
        <tbody>
          {rows.slice(0, MAX_SHOWN).map((row) => (
            <tr key={row.url}>
              <TitleCell {...row} />
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
    </RowsFrame>
  );
}

/** Describes the number of rows; `cut` explains which ones of too many are shown. */
function describeCount(count: number, cut: string): string {
  const rows = count === 1 ? '1 row' : `${count.toLocaleString()} rows`;
  return count > MAX_SHOWN ? `${rows}, ${cut}` : rows;
}

/** The title of a pull request or issue, which links to the forge. */
function TitleCell({ url, title, number }: Pick<PullRequest, 'number' | 'title' | 'url'>) {
  return (
    <td>
      <a href={url} target="_blank" rel="noreferrer">
        <bdi>{title}</bdi>
      </a>{' '}
      <span class="quiet">#{number}</span>
    </td>
  );
}

interface RowsFrameProps {
  readonly title: string;
  /** The number of rows in words. */
  readonly status: string;
  /** Buttons and links before the one that closes the dialog. */
  readonly acts: ComponentChildren;
  /** The table. */
  readonly children: ComponentChildren;
}

/** A modal dialog with a table of rows, which changes the address when it is closed. */
function RowsFrame({ title, status, acts, children }: RowsFrameProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    // Back removes the dialog. Only a dialog that is closed returns the focus.
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="rows-dialog"
      aria-labelledby={id}
      onClose={({ currentTarget }) => (currentTarget.isConnected ? hideRows() : undefined)}
    >
      <h2 id={id}>
        <bdi>{title}</bdi>
      </h2>
      <p class="quiet" role="status">
        {status}
      </p>
      <div class="wide" tabIndex={0} role="region" aria-label="Rows">
        {children}
      </div>
      <p class="acts">
        {acts}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}

interface RowsPage {
  readonly rows: readonly ReviewRow[];
  /** The number of all rows. */
  readonly total: number;
}

/** A dialog with the pull requests behind a figure of the reviews, while the address names one. */
export function ReviewRowsDialog() {
  const { repository } = insightsState.value;
  const scope = toReviewScope({ days: period.value.days, owner: boardOwner.value, repository });
  const query = toRowsQuery(scope, insightsState.value);
  return query && <ReviewDialog key={JSON.stringify(query)} query={query} />;
}

function ReviewDialog({ query }: { readonly query: NonNullable<ReturnType<typeof toRowsQuery>> }) {
  const load = useCallback(async (): Promise<RowsPage> => {
    const result = await dashboardClient.GET('/api/insights/reviews/rows', {
      params: { query: { ...query, limit: MAX_SHOWN } },
    });
    return { rows: requireData(result), total: Number(result.response.headers.get('X-Total-Count')) };
    // The key of the dialog is the query.
  }, []);
  const page = useResource(load);
  const { value } = page;
  const count = value === undefined ? '' : `${describeCount(value.total, `the longest ${MAX_SHOWN} are shown`)}. `;
  return (
    <RowsFrame
      title={describeRows(query)}
      status={`${count}${MEASURE_TEXTS[query.measure].help}`}
      acts={
        <a class="button" href={toExportAddress(query)} download>
          Export CSV
        </a>
      }
    >
      <AsyncContent from={page}>{({ rows }) => <Rows rows={rows} />}</AsyncContent>
    </RowsFrame>
  );
}

function Rows({ rows }: Pick<RowsPage, 'rows'>) {
  const hasReviewers = rows.some(({ reviewer }) => reviewer !== undefined);
  return (
    <table>
      <TableHead names={['Title', 'Time', 'Repository', 'Author', ...(hasReviewers ? ['Reviewer'] : []), 'Opened']} />
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.url} ${row.reviewer ?? ''}`}>
            <TitleCell {...row} />
            <td>{row.seconds === undefined ? 'none' : formatSpan(row.seconds)}</td>
            <td>{formatRepository(row)}</td>
            <td>
              <bdi>{row.author}</bdi>
            </td>
            {hasReviewers && (
              <td>
                <bdi>{row.reviewer}</bdi>
              </td>
            )}
            <td>{formatDate(row.openedAt)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
