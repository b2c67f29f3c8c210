import { toAge } from './age.js';
import { toMoment } from './times.js';

/**
 * A relative time, such as "3 days ago". The absolute time in the tooltip is formatted on hover, to save work in lists.
 */
export function Ago({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} onPointerEnter={({ currentTarget }) => (currentTarget.title = toMoment(time))}>
      {toAge(time)}
    </time>
  );
}
