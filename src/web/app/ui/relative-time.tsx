import { formatRelativeTime } from './format-relative-time.js';
import { formatDateTime } from './times.js';

/**
 * A relative time, such as "3 days ago". The absolute time in the tooltip is formatted on hover, to save work in lists.
 */
export function RelativeTime({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} onPointerEnter={({ currentTarget }) => (currentTarget.title = formatDateTime(time))}>
      {formatRelativeTime(time)}
    </time>
  );
}
