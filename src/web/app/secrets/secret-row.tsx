import { useId, useRef, useState } from 'preact/hooks';
import { Field } from '../ui/form.js';
import { formatDate } from '../ui/times.js';
import { linkToConsumer, linkToSecret, type ObjectMetadata } from './names.js';

/** More names would wrap to several lines, which makes the list hard to scan. */
const SHOWN_CONSUMERS = 2;

interface ObjectRowProps {
  /** The owner's public key; `undefined` when the owner has no identity, or while it loads. */
  readonly ownKey: string | undefined;
  readonly object: ObjectMetadata;
  readonly onTag: (tag: string) => void;
}

/** A secret in the list of secrets. */
export function SecretRow({ object, ownKey, onTag }: ObjectRowProps) {
  const { slug, description, tags, used_by = [], updated_at, rotation_due, reseal } = object;
  const isOwn = ownKey !== undefined && object.recipients?.includes(ownKey) === true;
  const readers = [...(isOwn ? ['you'] : []), ...used_by.slice(0, SHOWN_CONSUMERS)];
  const rest = used_by.length - SHOWN_CONSUMERS;
  return (
    <div class="object">
      <div>
        <p>
          <a href={linkToSecret(object)}>{slug}</a>
          {tags.map((tag) => (
            <button
              key={tag}
              type="button"
              class="chip"
              aria-label={`Show only secrets tagged ${tag}`}
              onClick={() => onTag(tag)}
            >
              {tag}
            </button>
          ))}
          {rotation_due && <span class="chip bad">due for rotation</span>}
          {reseal && <span class="chip bad">needs re-encryption</span>}
        </p>
        {description !== undefined && <p class="quiet">{description}</p>}
      </div>
      <p class="quiet">
        {readers.length === 0 ? 'No consumers' : `Readable by ${readers.join(', ')}`}
        {rest > 0 && <AllConsumers slug={slug} names={used_by} rest={rest} />}
      </p>
      <p class="quiet">{updated_at && `Updated ${formatDate(updated_at)}`}</p>
    </div>
  );
}

interface AllConsumersProps {
  readonly slug: string;
  readonly names: readonly string[];
  /** The number of consumers that the row doesn't show. */
  readonly rest: number;
}

/** A button with a dialog that lists all consumers of a secret, searchable by a part of the name. */
function AllConsumers({ slug, names, rest }: AllConsumersProps) {
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
