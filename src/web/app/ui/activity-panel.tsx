import { useRef } from 'preact/hooks';
import { activity, clearActivity } from './activity.js';
import type { ActivityEntry } from './activity.js';
import { Menu } from './menu.js';
import { formatDateTime } from './times.js';

/** The menu with past messages, including toasts that disappeared before they were read. */
export function ActivityPanel() {
  const panel = useRef<HTMLDivElement>(null);
  const clear = (): void => {
    // The focused button is removed together with the list.
    panel.current?.focus();
    clearActivity();
  };
  return (
    <Menu name="Activity">
      <div ref={panel} class="activity" role="region" tabIndex={-1} aria-label="Activity in this browser">
        {activity.value.length === 0 ? (
          <p class="quiet">No activity in this browser yet.</p>
        ) : (
          <Entries onClear={clear} />
        )}
      </div>
    </Menu>
  );
}

function Entries({ onClear }: { readonly onClear: () => void }) {
  return (
    <>
      <ol tabIndex={0} aria-label="Newest first">
        {activity.value.map((entry, index) => (
          // Times are not unique.
          <Entry key={`${entry.at} ${index}`} entry={entry} />
        ))}
      </ol>
      <button type="button" onClick={onClear}>
        Clear
      </button>
    </>
  );
}

const Entry = ({ entry: { at, text, kind } }: { readonly entry: ActivityEntry }) => (
  <li class={kind}>
    {kind === 'failed' && <span class="bad">Failed: </span>}
    {text} <time dateTime={at}>{formatDateTime(at)}</time>
  </li>
);
