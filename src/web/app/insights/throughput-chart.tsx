import { useMemo } from 'preact/hooks';
import { type Column, findScaleTop, shortDate, splitKnownRuns } from './throughput-data.js';

/** The layout of the drawing, in pixels. */
const HEIGHT = 300;
export const MARGIN_LEFT = 34;
export const MARGIN_RIGHT = 6;
const OPEN = { top: 26, bottom: 118 };
const FLOW = { top: 162, bottom: 272 };

/** The width of a bar as a share of its column, and its maximum in pixels. */
const BAR_SHARE = 0.72;
const MAX_BAR = 22;

interface ThroughputChartProps {
  readonly columns: readonly Column[];
  /** In pixels. Texts and lines keep their size at every width. */
  readonly width: number;
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
}

/**
 * Two panels with separate scales and a common time axis: the number of open pull requests as a line, and below it the
 * opened ones as bars up and the closed ones as bars down. The drawing is hidden from screen readers, which read the
 * figures beside it and the table.
 */
export function ThroughputChart({ columns, width, chosen, onChoose }: ThroughputChartProps) {
  const step = Math.max(0, width - MARGIN_LEFT - MARGIN_RIGHT) / columns.length;
  const center = (index: number): number => MARGIN_LEFT + step * (index + 0.5);
  const choose = ({ offsetX }: PointerEvent): void => {
    const index = Math.floor((offsetX - MARGIN_LEFT) / step);
    if (index >= 0 && index < columns.length) onChoose(index);
  };
  const uncounted =
    Math.max(
      0,
      columns.findIndex(({ isCounted }) => isCounted),
    ) * step;
  return (
    <svg
      class="throughput"
      width={width}
      height={HEIGHT}
      aria-hidden="true"
      onPointerMove={choose}
      onPointerDown={choose}
    >
      {uncounted > 0 && <Uncounted width={uncounted} />}
      <rect
        class="chosen"
        x={MARGIN_LEFT + step * chosen}
        y={OPEN.top - 6}
        width={step}
        height={FLOW.bottom - OPEN.top + 12}
      />
      <OpenLine {...{ columns, width, center }} />
      <Flows {...{ columns, width, center }} bar={Math.min(step * BAR_SHARE, MAX_BAR)} />
      <Dates {...{ columns, center, width }} />
    </svg>
  );
}

/** Marks the time before the first data. A narrow mark has no text; the start of the data is also stated below. */
function Uncounted({ width }: { readonly width: number }) {
  return (
    <>
      <rect class="before" x={MARGIN_LEFT} y={OPEN.top} width={width} height={FLOW.bottom - OPEN.top} />
      {width > 130 && (
        <text class="tick" x={MARGIN_LEFT + width / 2} y={(OPEN.top + OPEN.bottom) / 2 + 4} text-anchor="middle">
          No data yet
        </text>
      )}
    </>
  );
}

interface PanelProps {
  readonly columns: readonly Column[];
  readonly width: number;
  readonly center: (index: number) => number;
}

function OpenLine({ columns, width, center }: PanelProps) {
  const top = findScaleTop(columns.map(({ open = 0 }) => open));
  const y = (open: number): number => OPEN.bottom - ((OPEN.bottom - OPEN.top) * open) / top;
  const runs = useMemo(() => splitKnownRuns(columns), [columns]);
  return (
    <g class="open">
      <text class="name" x={MARGIN_LEFT} y={OPEN.top - 12}>
        Open
      </text>
      <Line at={y(top)} label={top} width={width} />
      <Line at={y(0)} label={0} width={width} />
      {runs.map((run) => {
        const points = run.map(([index, open]) => `${center(index)},${y(open)}`).join(' ');
        const [[first] = [0], [last] = [0]] = [run[0], run.at(-1)];
        const [, lastOpen = 0] = run.at(-1) ?? [];
        return (
          <g key={first}>
            <polygon class="area" points={`${center(first)},${y(0)} ${points} ${center(last)},${y(0)}`} />
            <polyline class="line" points={points} />
            <circle class="dot" cx={center(last)} cy={y(lastOpen)} r={3} />
          </g>
        );
      })}
    </g>
  );
}

function Flows({ columns, width, center, bar }: PanelProps & { readonly bar: number }) {
  const [up, down] = [findScaleTop(columns.map(({ opened }) => opened)), findScaleTop(columns.map(({ left }) => left))];
  const unit = (FLOW.bottom - FLOW.top) / (up + down);
  const zero = FLOW.top + up * unit;
  return (
    <g>
      <text class="name" x={MARGIN_LEFT} y={FLOW.top - 12}>
        ▲ Opened
      </text>
      <text class="name" x={MARGIN_LEFT + 84} y={FLOW.top - 12}>
        ▼ Closed
      </text>
      <Line at={FLOW.top} label={up} width={width} />
      <Line at={FLOW.bottom} label={down} width={width} />
      {columns.map(({ start, opened, left }, index) => (
        <g key={start}>
          {opened > 0 && (
            <rect
              class="opened"
              x={center(index) - bar / 2}
              y={zero - opened * unit}
              width={bar}
              height={opened * unit}
            />
          )}
          {left > 0 && <rect class="left" x={center(index) - bar / 2} y={zero} width={bar} height={left * unit} />}
        </g>
      ))}
      <Line at={zero} label={0} width={width} />
    </g>
  );
}

function Line({ at, label, width }: { readonly at: number; readonly label: number; readonly width: number }) {
  const y = Math.round(at) + 0.5;
  return (
    <>
      <line class="rule" x1={MARGIN_LEFT} x2={width - MARGIN_RIGHT} y1={y} y2={y} />
      <text class="tick" x={MARGIN_LEFT - 6} y={y + 4} text-anchor="end">
        {label}
      </text>
    </>
  );
}

/** The labels of the time axis: as many as fit, always including the last one. */
function Dates({ columns, center, width }: PanelProps) {
  const many = Math.max(1, Math.min(columns.length, Math.floor((width - MARGIN_LEFT) / 90)));
  const every = Math.ceil(columns.length / many);
  const last = columns.length - 1;
  return (
    <>
      {columns.map(({ start }, index) =>
        (last - index) % every === 0 ? (
          <text
            key={start}
            class="tick"
            x={index === last ? width - MARGIN_RIGHT : center(index)}
            y={HEIGHT - 6}
            text-anchor={index === last ? 'end' : 'middle'}
          >
            {shortDate(start)}
          </text>
        ) : null,
      )}
    </>
  );
}
