import type { ComponentChildren } from 'preact';
import { TableHead } from '../ui/table-head.js';

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
