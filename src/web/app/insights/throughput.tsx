import type { RefObject } from 'preact';
import { useCallback, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { boardOwner, newestBoard } from '../board/data/board-store.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { timezone } from '../ui/times.js';
import { ChartTable, NoData } from './bar-chart.js';
import { period, showRows } from './chart-data.js';
import { MARGIN_LEFT, MARGIN_RIGHT, ThroughputChart } from './throughput-chart.js';
import {
  type Column,
  describeColumn,
  formatColumnName,
  longDate,
  type Period,
  sumColumns,
  type Throughput,
  toColumns,
} from './throughput-data.js';

interface LoadedCounts {
  readonly counts: Throughput;
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
      </figcaption>
      <AsyncContent from={counts}>{(loaded) => <Counted {...loaded} />}</AsyncContent>
    </figure>
  );
}

function Counted({ counts, period: shown }: LoadedCounts) {
  const columns = useMemo(() => toColumns(counts, shown), [counts, shown]);
  if (counts.since === undefined) {
    return <NoData text="Data appears after the first refresh." />;
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
            <strong>{open.toLocaleString()}</strong> open now, with drafts
          </span>
        )}
        {open !== undefined && open > 0 && (
          <button type="button" aria-haspopup="dialog" onClick={() => showRows('open')}>
            Show open pull requests
          </button>
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
function CountsTable({ columns, per }: { readonly columns: readonly Column[]; readonly per: Throughput['per'] }) {
  const counted = columns.filter(({ isCounted }) => isCounted).reverse();
  return (
    <ChartTable
      title="Throughput"
      names={[per === 'day' ? 'Day' : 'Week', 'Opened', 'Closed', 'Open at end']}
      rows={() =>
        counted.map(({ start, opened, left, open }) => [start, String(opened), String(left), String(open ?? '')])
      }
    >
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

/** The width of the slider's handle in the style sheet, in pixels. */
const THUMB = 18;

interface ThroughputExplorerProps {
  readonly columns: readonly Column[];
  readonly per: Throughput['per'];
}

/** The chart with the figures of one day or week, which the pointer or the slider below selects. */
function ThroughputExplorer({ columns, per }: ThroughputExplorerProps) {
  const [place, slider] = [useRef<HTMLDivElement>(null), useRef<HTMLInputElement>(null)];
  const width = useWidth(place);
  const id = useId();
  const last = columns.length - 1;
  // Without a selection the newest column is shown, also after new ones arrive.
  const [selected, setSelected] = useState<string>();
  const found = columns.findIndex(({ start }) => start === selected);
  const chosen = found === -1 ? last : found;
  const column = columns[chosen];
  useLayoutEffect(() => {
    const { style } = slider.current ?? {};
    if (style === undefined || width === 0) return;
    // Aligns the handle with the selected column.
    const step = (width - MARGIN_LEFT - MARGIN_RIGHT) / columns.length;
    style.marginInlineStart = `${MARGIN_LEFT + (step - THUMB) / 2}px`;
    style.width = `${step * last + THUMB}px`;
  }, [width, columns.length, last]);
  if (column === undefined) return null;
  const choose = (index: number): void => setSelected(index === last ? undefined : columns[index]?.start);
  return (
    <div class="explorer">
      <p class="reading">
        <strong>
          {formatColumnName(column, per)}
          {chosen === last && ', so far'}
        </strong>
        : {describeColumn(column)}
      </p>
      <div ref={place} class="place">
        {width > 0 && <ThroughputChart {...{ columns, width, chosen }} onChoose={choose} />}
      </div>
      <label class="aside" for={id}>
        {per === 'day' ? 'Day' : 'Week'}
      </label>
      <input
        ref={slider}
        id={id}
        type="range"
        min={0}
        max={last}
        value={chosen}
        aria-valuetext={`${formatColumnName(column, per)}: ${describeColumn(column)}`}
        onInput={({ currentTarget }) => choose(currentTarget.valueAsNumber)}
      />
    </div>
  );
}

/** Returns the current width of an element in pixels, and 0 before it is measured. */
function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = place;
    if (current === null) return;
    const measure = (): void => setWidth(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [place]);
  return width;
}
