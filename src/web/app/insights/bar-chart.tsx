import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { TableHead } from '../ui/headings.js';
import { Icon } from '../ui/icon.js';
import { type Bar, MAX_BARS, sumParts, toCsv } from './chart-data.js';

interface BarChartProps<T extends Bar> {
  readonly title: string;
  readonly bars: readonly T[];
  /** The names of the parts of a bar. */
  readonly parts: readonly string[];
  /** The CSS classes that colour the parts. */
  readonly kinds: readonly string[];
  /** Shows the rows of a bar; `part` is the name of one of several parts, or empty for all. */
  readonly onShow: (bar: T, part: string) => void;
  /** The heading of the labels in the table. */
  readonly labelled?: string;
}

/** A chart of horizontal stacked bars on one scale, with its data as a table. */
export function BarChart<T extends Bar>(props: BarChartProps<T>) {
  const id = useId();
  const { title, bars } = props;
  const isEmpty = bars.every((bar) => sumParts(bar) === 0);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h2 id={id}>{title}</h2>
      </figcaption>
      {isEmpty ? <NoData text="Nothing to show yet." /> : <Bars {...props} />}
    </figure>
  );
}

/** Takes the place of the data of an empty chart. */
export const NoData = ({ text }: { readonly text: string }) => (
  <p class="no-data">
    <Icon name="chart" /> {text}
  </p>
);

/** The bars with their legend and their table. */
export function Bars<T extends Bar>(props: BarChartProps<T>) {
  const { bars, parts, kinds, onShow } = props;
  const drawn = bars.slice(0, MAX_BARS);
  const most = Math.max(...drawn.map(sumParts));
  return (
    <>
      {parts.length > 1 && <Legend parts={parts} kinds={kinds} />}
      <div class="bars">
        {drawn.map((bar) => (
          <Row key={bar.label} {...{ bar, most, kinds }} onShow={() => onShow(bar, '')} />
        ))}
      </div>
      {bars.length > MAX_BARS && <p class="quiet">+{bars.length - MAX_BARS} more in the table.</p>}
      <Table {...props} />
    </>
  );
}

function Legend({ parts, kinds }: Pick<BarChartProps<Bar>, 'kinds' | 'parts'>) {
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
  readonly onShow: () => void;
}

/** Only the bar is an SVG, which is stretched to the available width; the texts keep their size. */
function Row({ bar, most, kinds, onShow }: RowProps) {
  let x = 0;
  const sum = sumParts(bar);
  return (
    <div class="bar-row">
      <button
        type="button"
        class="label plain"
        title={bar.label}
        aria-label={`${bar.label}: ${sum}. Show the rows`}
        aria-haspopup="dialog"
        aria-disabled={sum === 0}
        onClick={() => sum > 0 && onShow()}
      >
        <bdi>{bar.label}</bdi>
      </button>
      <svg aria-hidden="true" viewBox={`0 0 ${most} 1`} preserveAspectRatio="none">
        {bar.parts.map((part, index) => {
          const left = x;
          x += part;
          return <rect key={kinds[index]} class={kinds[index]} x={left} y={0} width={part} height={1} />;
        })}
      </svg>
      <span class="value" aria-hidden="true">
        {sum}
        {bar.note !== undefined && <span class="bad"> · {bar.note}</span>}
      </span>
    </div>
  );
}

function Table<T extends Bar>({ title, bars, parts, onShow, labelled = 'Group' }: BarChartProps<T>) {
  const names = [labelled, ...parts];
  // A chart with one part has no parts in its rows.
  const toPart = (index: number): string => (parts.length > 1 ? (parts[index] ?? '') : '');
  const rows = () => bars.map((bar) => [bar.label, ...bar.parts.map(String)]);
  return (
    <ChartTable title={title} names={names} rows={rows}>
      {bars.map((bar) => (
        <tr key={bar.label}>
          <th scope="row">{bar.label}</th>
          {bar.parts.map((part, index) => (
            <td key={parts[index]}>
              {part === 0 ? (
                0
              ) : (
                <button
                  type="button"
                  class="plain figure"
                  aria-label={`${bar.label}, ${parts[index] ?? ''}: ${part}. Show the rows`}
                  aria-haspopup="dialog"
                  onClick={() => onShow(bar, toPart(index))}
                >
                  {part}
                </button>
              )}
            </td>
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
  /** The texts of the rows of an export; without them the chart has none. */
  readonly rows?: () => readonly (readonly string[])[];
  /** The table rows. */
  readonly children: ComponentChildren;
}

/** The data of a chart as a table, collapsed at first. A wide table scrolls instead of the page. */
export function ChartTable({ title, names, rows, children }: AsTableProps) {
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
      {rows && (
        <p class="acts">
          <ExportButton name={title} columns={names} rows={rows} />
        </p>
      )}
    </details>
  );
}

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
