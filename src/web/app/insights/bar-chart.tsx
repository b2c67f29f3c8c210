import { MOST_BARS, total } from './figures.js';
import type { Bar } from './figures.js';

interface BarChartProps {
  readonly title: string;
  readonly bars: readonly Bar[];
  /** What each part of a bar stands for. */
  readonly parts: readonly string[];
  /** Classes of the parts' colours. */
  readonly kinds: readonly string[];
}

const [WIDTH, HEIGHT, LABEL] = [640, 26, 200];

/** Bars from left to right, of one scale, with the same figures as a table. */
export function BarChart({ title, bars, parts, kinds }: BarChartProps) {
  const drawn = bars.slice(0, MOST_BARS);
  const most = Math.max(1, ...drawn.map(total));
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        {parts.length > 1 && (
          <ul class="legend">
            {parts.map((part, index) => (
              <li key={part}>
                <span class={`swatch ${kinds[index] ?? ''}`} /> {part}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      {bars.length === 0 ? (
        <p class="quiet">Nothing is open.</p>
      ) : (
        <svg viewBox={`0 0 ${WIDTH} ${drawn.length * HEIGHT}`} aria-hidden="true">
          {drawn.map((bar, row) => (
            <Row key={bar.label} bar={bar} row={row} scale={(WIDTH - LABEL - 40) / most} kinds={kinds} />
          ))}
        </svg>
      )}
      {bars.length > MOST_BARS && <p class="quiet">{bars.length - MOST_BARS} more are in the table.</p>}
      <Table title={title} bars={bars} parts={parts} />
    </figure>
  );
}

interface RowProps {
  readonly bar: Bar;
  readonly row: number;
  /** Units of the drawing for one pull request. */
  readonly scale: number;
  readonly kinds: readonly string[];
}

function Row({ bar, row, scale, kinds }: RowProps) {
  const y = row * HEIGHT;
  let x = LABEL;
  return (
    <g>
      <text class="label" x={LABEL - 8} y={y + 17} text-anchor="end">
        {shorten(bar.label)}
      </text>
      {bar.parts.map((part, index) => {
        const left = x;
        x += part * scale;
        return (
          <rect key={kinds[index]} class={kinds[index]} x={left} y={y + 4} width={part * scale} height={18} rx={2} />
        );
      })}
      <text class="value" x={x + 6} y={y + 17}>
        {total(bar)}
      </text>
    </g>
  );
}

/** Names of repositories are told apart by their ends. */
const shorten = (text: string): string => (text.length > 26 ? `…${text.slice(-25)}` : text);

function Table({ title, bars, parts }: Pick<BarChartProps, 'bars' | 'parts' | 'title'>) {
  return (
    <details>
      <summary>As a table</summary>
      <table>
        <caption class="aside">{title}</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            {parts.map((part) => (
              <th key={part} scope="col">
                {part}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.label}>
              <th scope="row">{bar.label}</th>
              {bar.parts.map((part, index) => (
                <td key={parts[index]}>{part}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
