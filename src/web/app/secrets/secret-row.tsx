import { formatDate } from '../ui/times.js';
import { AllConsumers } from './all-consumers.js';
import { linkToSecret } from './secrets.js';
import type { ObjectMetadata } from './secrets.js';

/** More names would wrap to several lines, which makes the list hard to scan. */
const SHOWN_CONSUMERS = 2;

interface ObjectRowProps {
  readonly object: ObjectMetadata;
  readonly onTag: (tag: string) => void;
}

/** A secret in the list of secrets. */
export function SecretRow({ object, onTag }: ObjectRowProps) {
  const { slug, description, tags, used_by = [], updated_at, rotation_due, reseal } = object;
  const rest = used_by.length - SHOWN_CONSUMERS;
  return (
    <div class="object">
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
      <p class="quiet">
        {used_by.length === 0 ? 'no consumers' : used_by.slice(0, SHOWN_CONSUMERS).join(', ')}
        {rest > 0 && <AllConsumers slug={slug} names={used_by} rest={rest} />}
        {updated_at && ` · updated ${formatDate(updated_at)}`}
      </p>
    </div>
  );
}
