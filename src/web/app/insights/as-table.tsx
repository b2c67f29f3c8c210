import type { ComponentChildren } from 'preact';
import { TableHead } from '../shell/table-head.js';

interface AsTableProps {
  /** Of the chart whose figures these are. */
  readonly title: string;
  readonly names: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** The figures of a chart, for whoever asks; where it is too wide, the table scrolls and not the page. */
export function AsTable({ title, names, children }: AsTableProps) {
  return (
    <details>
      <summary>As a table</summary>
      <div class="wide" tabIndex={0} role="region" aria-label={`${title}, figures`}>
        <table>
          <caption class="aside">{title}</caption>
          <TableHead names={names} />
          <tbody>{children}</tbody>
        </table>
      </div>
    </details>
  );
}
