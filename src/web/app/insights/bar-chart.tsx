import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { TableHead } from '../ui/headings.js';
import { type Bar, MAX_BARS, sumParts } from './chart-data.js';

interface BarChartProps {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** The names of the parts of a bar. */
  readonly parts: readonly string[];
  /** The CSS classes that colour the parts. */
  readonly kinds: readonly string[];
}

/** A chart of horizontal stacked bars on one scale, with its data as a table. */
export function BarChart({ title, bars, parts, kinds }: BarChartProps) {
  const id = useId();
  const isEmpty = bars.every((bar) => sumParts(bar) === 0);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h2 id={id}>{title}</h2>
      </figcaption>
      {isEmpty ? <p class="quiet">Nothing to show yet.</p> : <Bars {...{ title, bars, parts, kinds }} />}
    </figure>
  );
}

function Bars({ title, bars, parts, kinds }: BarChartProps) {
  const drawn = bars.slice(0, MAX_BARS);
  const most = Math.max(...drawn.map(sumParts));
  return (
    <>
      {parts.length > 1 && <Legend parts={parts} kinds={kinds} />}
      <div class="bars" aria-hidden="true">
        {drawn.map((bar) => (
          <Row key={bar.label} {...{ bar, most, kinds }} />
        ))}
      </div>
      {bars.length > MAX_BARS && <p class="quiet">+{bars.length - MAX_BARS} more in the table.</p>}
      <Table title={title} bars={bars} parts={parts} />
    </>
  );
}

function Legend({ parts, kinds }: Pick<BarChartProps, 'kinds' | 'parts'>) {
  return (
    <ul class="legend">
      {parts.map((part, index) => (
        <li key={part}>
          <span class={`swatch ${kinds[index] ?? ''}`} /> {part}
        </li>
      ))}
    </ul>
  );
}

interface RowProps {
  readonly bar: Bar;
  readonly most: number;
  readonly kinds: readonly string[];
}

/** Only the bar is an SVG, which is stretched to the available width; the texts keep their size. */
function Row({ bar, most, kinds }: RowProps) {
  let x = 0;
  return (
    <div class="bar-row">
      <span class="label" title={bar.label}>
        <bdi>{bar.label}</bdi>
      </span>
      <svg viewBox={`0 0 ${most} 1`} preserveAspectRatio="none">
        {bar.parts.map((part, index) => {
          const left = x;
          x += part;
          return <rect key={kinds[index]} class={kinds[index]} x={left} y={0} width={part} height={1} />;
        })}
      </svg>
      <span class="value">
        {sumParts(bar)}
        {bar.note !== undefined && <span class="bad"> · {bar.note}</span>}
      </span>
    </div>
  );
}

function Table({ title, bars, parts }: Pick<BarChartProps, 'bars' | 'parts' | 'title'>) {
  return (
    <ChartTable title={title} names={['Group', ...parts]}>
      {bars.map((bar) => (
        <tr key={bar.label}>
          <th scope="row">{bar.label}</th>
          {bar.parts.map((part, index) => (
            <td key={parts[index]}>{part}</td>
          ))}
        </tr>
      ))}
    </ChartTable>
  );
}

interface AsTableProps {
  /** The title of the chart. */
  readonly title: string;
  readonly names: readonly string[];
  /** The table rows. */
  readonly children: ComponentChildren;
}

/** The data of a chart as a table, collapsed at first. A wide table scrolls instead of the page. */
export function ChartTable({ title, names, children }: AsTableProps) {
  return (
    <details>
      <summary>View as table</summary>
      <div class="wide" tabIndex={0} role="region" aria-label={`${title}, data`}>
        <table>
          <caption class="aside">{title}</caption>
          <TableHead names={names} />
          <tbody>{children}</tbody>
        </table>
      </div>
    </details>
  );
}
