import { useRef } from 'preact/hooks';
import { activity, clearActivity } from './activity.js';
import type { Deed } from './activity.js';
import { Menu } from './menu.js';
import { toMoment } from './times.js';

/** What was told while nobody looked, or went before it was read. */
export function ActivityPanel() {
  const panel = useRef<HTMLDivElement>(null);
  const clear = (): void => {
    // The button goes with the list, and the focus would with it.
    panel.current?.focus();
    clearActivity();
  };
  return (
    <Menu name="Activity">
      <div ref={panel} class="activity" role="region" tabIndex={-1} aria-label="What was done in this browser">
        {activity.value.length === 0 ? (
          <p class="quiet">Nothing was done in this browser yet.</p>
        ) : (
          <Deeds onClear={clear} />
        )}
      </div>
    </Menu>
  );
}

function Deeds({ onClear }: { readonly onClear: () => void }) {
  return (
    <>
      <ol tabIndex={0} aria-label="Newest first">
        {activity.value.map((deed, index) => (
          // Two may be told at the same moment.
          <DeedRow key={`${deed.at} ${index}`} deed={deed} />
        ))}
      </ol>
      <button type="button" onClick={onClear}>
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
