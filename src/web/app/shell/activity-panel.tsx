import { activity, clearActivity } from './activity.js';
import type { Deed } from './activity.js';
import { Menu } from './menu.js';
import { toMoment } from './times.js';

/** What was told while nobody looked, or went before it was read. */
export function ActivityPanel() {
  return (
    <Menu name="Activity">
      <div class="activity" role="region" aria-label="What was done in this browser">
        {activity.value.length === 0 ? <p class="quiet">Nothing was done in this browser yet.</p> : <Deeds />}
      </div>
    </Menu>
  );
}

function Deeds() {
  return (
    <>
      <ol tabIndex={0} aria-label="Newest first">
        {activity.value.map((deed, index) => (
          // Two may be told at the same moment.
          <DeedRow key={`${deed.at} ${index}`} deed={deed} />
        ))}
      </ol>
      <button type="button" onClick={clearActivity}>
        Clear
      </button>
    </>
  );
}

const DeedRow = ({ deed: { at, text, kind } }: { readonly deed: Deed }) => (
  <li class={kind}>
    {kind === 'failed' && <span class="bad">Failed: </span>}
    {text} <time dateTime={at}>{toMoment(at)}</time>
  </li>
);
