import { useLayoutEffect, useRef } from 'preact/hooks';

const KEYS = [
  ['j, k', 'Next / previous row'],
  ['o', 'Open on the code host'],
  ['m', 'Merge, or the first action of the row; press again to confirm'],
  ['c', 'Show checks'],
  ['x', 'Select'],
  ['/', 'Search titles'],
  ['Esc', 'Cancel'],
  ['?', 'Show this list'],
] as const;

/** A modal dialog with the shortcuts of the list. The browser traps the focus and closes the dialog on Escape. */
export function KeyboardShortcuts({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <dl>
        {KEYS.map(([key, description]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
