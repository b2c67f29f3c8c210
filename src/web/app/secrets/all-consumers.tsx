import { useId, useRef, useState } from 'preact/hooks';
import { Field } from '../ui/field.js';
import { linkToConsumer } from './secrets.js';

interface AllConsumersProps {
  readonly slug: string;
  readonly names: readonly string[];
  /** The number of consumers that the row doesn't show. */
  readonly rest: number;
}

/** A button with a dialog that lists all consumers of a secret, searchable by a part of the name. */
export function AllConsumers({ slug, names, rest }: AllConsumersProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const searched = text.trim().toLowerCase();
  const found = names.filter((name) => name.toLowerCase().includes(searched));
  return (
    <>
      {' '}
      <button
        type="button"
        class="chip"
        aria-haspopup="dialog"
        aria-label={`+${rest} more consumers of ${slug}`}
        onClick={() => dialog.current?.showModal()}
      >
        +{rest} more
      </button>
      <dialog ref={dialog} aria-labelledby={id} onClose={() => setText('')}>
        <h2 id={id}>Consumers of {slug}</h2>
        <Field label="Search consumers" type="search" value={text} onValue={setText} />
        <p class="quiet" role="status">
          {found.length} of {names.length} shown
        </p>
        <ul class="plain-list">
          {found.map((name) => (
            <li key={name}>
              <a href={linkToConsumer(name)} onClick={() => dialog.current?.close()}>
                {name}
              </a>
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  );
}
