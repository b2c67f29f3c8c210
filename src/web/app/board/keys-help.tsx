import { useLayoutEffect, useRef } from 'preact/hooks';

const KEYS = [
  ['j, k', 'the next row, the one before'],
  ['o', 'open it at its forge'],
  ['m', 'merge it, or whatever its first button does; once more to confirm'],
  ['c', 'its checks'],
  ['x', 'choose it'],
  ['/', 'search titles'],
  ['Esc', 'take a question back'],
  ['?', 'this list'],
] as const;

/** The browser's own dialog: it holds the focus, and Escape closes it. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
