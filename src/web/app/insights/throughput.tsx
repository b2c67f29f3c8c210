import { signal } from '@preact/signals';
import { useCallback, useMemo } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { newestBoard, boardOwner } from '../board/board-store.js';
import { dashboardClient } from '../clients.js';
import { AsyncContent } from '../ui/async-content.js';
import { timezone } from '../ui/times.js';
import { useResource } from '../ui/use-resource.js';
import { ChartTable } from './chart-table.js';
import { ThroughputExplorer } from './throughput-explorer.js';
import { toColumns, longDate, formatColumnName, PERIODS, sumColumns } from './throughput-data.js';
import type { Column, Period, Throughput as Counts } from './throughput-data.js';

/** The selected period, which survives navigation to other pages. */
const period = signal<Period>(PERIODS[0]);

interface LoadedCounts {
  readonly counts: Counts;
  readonly period: Period;
}

/** A chart of opened, closed and open pull requests, loaded again with every new board. */
export function ThroughputFigure() {
  const [whose, selected, at] = [boardOwner.value, period.value, newestBoard.value?.generatedAt];
  const load = useCallback(async (): Promise<LoadedCounts> => {
    const { days, per } = selected;
    const query = { days, per, ...(whose === '' ? {} : { owner: whose }) };
    return {
      counts: requireData(await dashboardClient.GET('/api/insights/throughput', { params: { query } })),
      period: selected,
    };
    // A new board has new counts.
  }, [whose, selected, at]);
  const counts = useResource(load);
  return (
    <figure class="chart over-time" aria-labelledby="over-time">
      <figcaption>
        <h2 id="over-time">Throughput</h2>
        <Periods />
      </figcaption>
      <AsyncContent from={counts}>{(loaded) => <Counted {...loaded} />}</AsyncContent>
    </figure>
  );
}

function Periods() {
  return (
    <fieldset class="periods">
      <legend class="aside">Period</legend>
      {PERIODS.map((one) => (
        <label key={one.days}>
          <input
            type="radio"
            name="period"
            checked={period.value === one}
            onChange={() => {
              period.value = one;
            }}
          />
          {one.name}
        </label>
      ))}
    </fieldset>
  );
}

function Counted({ counts, period: shown }: LoadedCounts) {
  const columns = useMemo(() => toColumns(counts, shown), [counts, shown]);
  if (counts.since === undefined) {
    return <p class="quiet">Data appears after the first refresh.</p>;
  }
  const { opened, left, open } = sumColumns(columns);
  return (
    <>
      <p class="totals">
        <span>
          <strong>{opened}</strong> opened
        </span>
        <span>
          <strong>{left}</strong> merged or closed
        </span>
        {open !== undefined && (
          <span>
            <strong>{open}</strong> open now
          </span>
        )}
      </p>
      <ThroughputExplorer columns={columns} per={counts.per} />
      <p class="quiet">
        {columns.some(({ isCounted }) => !isCounted) && `Data since ${longDate(counts.since)}. `}
        {describeZone(counts.timezone)}
      </p>
      <CountsTable columns={columns} per={counts.per} />
    </>
  );
}

/** The time zone of the days, unless the user has selected one. */
const describeZone = (zone: string): string =>
  boardOwner.value === '' && timezone.value === ''
    ? `Days are in ${zone}. You can choose a time zone in the settings.`
    : '';

/** The figures, newest first. */
function CountsTable({ columns, per }: { readonly columns: readonly Column[]; readonly per: Counts['per'] }) {
  const counted = columns.filter(({ isCounted }) => isCounted).reverse();
  return (
    <ChartTable title="Throughput" names={[per === 'day' ? 'Day' : 'Week', 'Opened', 'Closed', 'Open at end']}>
      {counted.map((column) => (
        <tr key={column.start}>
          <th scope="row">{formatColumnName(column, per)}</th>
          <td>{column.opened}</td>
          <td>{column.left}</td>
          <td>{column.open ?? 'unknown'}</td>
        </tr>
      ))}
    </ChartTable>
  );
}
