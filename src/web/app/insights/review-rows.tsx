import { useCallback } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { boardOwner } from '../board/data/board-store.js';
import { formatRepository } from '../board/data/rows.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDate } from '../ui/times.js';
import { insightsState, period } from './insights-state.js';
import {
  describeRows,
  formatSpan,
  MEASURE_TEXTS,
  type ReviewRow,
  toExportAddress,
  toReviewScope,
  toRowsQuery,
} from './reviews-data.js';
import { describeCount, MAX_SHOWN, RowsFrame, TitleCell } from './rows-dialog.js';

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
  return query && <Dialog key={JSON.stringify(query)} query={query} />;
}

function Dialog({ query }: { readonly query: NonNullable<ReturnType<typeof toRowsQuery>> }) {
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
