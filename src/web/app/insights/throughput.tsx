import { signal } from '@preact/signals';
import { useCallback, useMemo } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { newest, owner } from '../board/board-store.js';
import { dashboard } from '../clients.js';
import { Loaded } from '../shell/loaded.js';
import { timezone } from '../shell/times.js';
import { useResource } from '../shell/use-resource.js';
import { AsTable } from './as-table.js';
import { ThroughputExplorer } from './throughput-explorer.js';
import { columnsOf, longDate, nameOf, PERIODS, totalsOf } from './throughput-figures.js';
import type { Column, Period, Throughput as Counts } from './throughput-figures.js';

/** Stays as it was chosen while other pages are looked at. */
const period = signal<Period>(PERIODS[0]);

interface Answer {
  readonly counts: Counts;
  readonly period: Period;
}

/** How pull requests came and went, counted anew with every board. */
export function Throughput() {
  const [whose, asked, at] = [owner.value, period.value, newest.value?.generatedAt];
  const load = useCallback(async (): Promise<Answer> => {
    const { days, per } = asked;
    const query = { days, per, ...(whose === '' ? {} : { owner: whose }) };
    return {
      counts: requireAnswer(await dashboard.GET('/api/insights/throughput', { params: { query } })),
      period: asked,
    };
    // A new board is why it is asked again.
  }, [whose, asked, at]);
  const answer = useResource(load);
  return (
    <figure class="chart over-time" aria-labelledby="over-time">
      <figcaption>
        <h2 id="over-time">Over time</h2>
        <Periods />
      </figcaption>
      <Loaded from={answer}>{(loaded) => <Counted {...loaded} />}</Loaded>
    </figure>
  );
}

function Periods() {
  return (
    <fieldset class="periods">
      <legend class="aside">How far back</legend>
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

function Counted({ counts, period: shown }: Answer) {
  const columns = useMemo(() => columnsOf(counts, shown), [counts, shown]);
  if (counts.since === undefined) {
    return (
      <p class="quiet">Counting begins with the first refresh of the board: from then on, every day has a bar here.</p>
    );
  }
  const { opened, left, open } = totalsOf(columns);
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
        {columns.some(({ isCounted }) => !isCounted) && `Counted since ${longDate(counts.since)}. `}
        {describeZone(counts.timezone)}
      </p>
      <CountsTable columns={columns} per={counts.per} />
    </>
  );
}

/** Whoever chose a zone knows it. */
const describeZone = (zone: string): string =>
  owner.value === '' && timezone.value === ''
    ? `Days are those of ${zone} until a time zone is chosen in the settings.`
    : '';

/** The newest first. */
function CountsTable({ columns, per }: { readonly columns: readonly Column[]; readonly per: Counts['per'] }) {
  const counted = columns.filter(({ isCounted }) => isCounted).reverse();
  return (
    <AsTable title="Over time" names={[per === 'day' ? 'Day' : 'Week', 'Opened', 'Left', 'Open at the end']}>
      {counted.map((column) => (
        <tr key={column.start}>
          <th scope="row">{nameOf(column, per)}</th>
          <td>{column.opened}</td>
          <td>{column.left}</td>
          <td>{column.open ?? 'unknown'}</td>
        </tr>
      ))}
    </AsTable>
  );
}
