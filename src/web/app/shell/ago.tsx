import { toAge } from './age.js';
import { toMoment } from './times.js';

/** How long ago a time is. The time itself is worked out as somebody points at it: of a long list nobody asks for all. */
export function Ago({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} onPointerEnter={({ currentTarget }) => (currentTarget.title = toMoment(time))}>
      {toAge(time)}
    </time>
  );
}
