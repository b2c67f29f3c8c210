import './palette.css';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Entry, listEntries, loadBoard, loadSecrets, searchEntries } from './entries.js';

interface PaletteProps {
  /** Opens an address of this server. */
  readonly onOpen: (href: string) => void;
  readonly onClose: () => void;
}

/** A dialog that finds pages, pull requests, repositories, secrets, files, actions and help by their names. */
export function Palette({ onOpen, onClose }: PaletteProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [selected, select] = useState(0);
  const [loaded, setLoaded] = useState<readonly Entry[]>([]);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const add = (more: readonly Entry[]): void => setLoaded((before) => [...before, ...more]);
    for (const load of [loadBoard, loadSecrets]) void load().then(add, () => undefined);
  }, []);
  const entries = useMemo(() => [...listEntries(), ...loaded], [loaded]);
  const found = useMemo(() => searchEntries(entries, text), [entries, text]);
  // Low windows do not show the whole list.
  useLayoutEffect(() => document.getElementById(`${id}-${selected}`)?.scrollIntoView({ block: 'nearest' }), [selected]);
  const open = ({ href, act }: Entry): void => {
    dialog.current?.close();
    act?.();
    if (href === undefined) return;
    if (href.startsWith('/')) onOpen(href);
    else window.open(href, '_blank', 'noreferrer');
  };
  const onKey = (event: KeyboardEvent): void => {
    const entry = found[selected];
    if (event.key === 'Enter' && entry) open(entry);
    else if (event.key === 'ArrowDown') select(Math.min(selected + 1, found.length - 1));
    else if (event.key === 'ArrowUp') select(Math.max(selected - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Command palette" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Search pages, pull requests, repositories, secrets, files, actions and help"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${selected}`}
        aria-autocomplete="list"
        autoComplete="off"
        maxLength={255}
        placeholder="Search everything"
        dir="auto"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          select(0);
        }}
        onKeyDown={onKey}
      />
      <ul id={id} role="listbox" aria-label="Results">
        {found.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name} ${entry.detail ?? ''}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onClick={() => open(entry)}
          >
            <span class="quiet">{entry.kind}</span> <bdi>{entry.name}</bdi>{' '}
            <bdi class="quiet">{entry.detail ?? ''}</bdi>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p role="status">Nothing found.</p>}
    </dialog>
  );
}
