import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MARGIN_LEFT, MARGIN_RIGHT, ThroughputChart } from './throughput-chart.js';
import { describeColumn, formatColumnName } from './throughput-data.js';
import type { Column, Throughput } from './throughput-data.js';
import { useWidth } from './use-width.js';

/** The width of the slider's handle in the style sheet, in pixels. */
const THUMB = 18;

interface ThroughputExplorerProps {
  readonly columns: readonly Column[];
  readonly per: Throughput['per'];
}

/** The chart with the figures of one day or week, which the pointer or the slider below selects. */
export function ThroughputExplorer({ columns, per }: ThroughputExplorerProps) {
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
