import { toDay } from '../shell/times.js';
import { AllConsumers } from './all-consumers.js';
import { linkTo } from './objects.js';
import type { ObjectMetadata } from './objects.js';

/** More make rows of several lines, which are hard to run down. */
const SHOWN_CONSUMERS = 2;

interface ObjectRowProps {
  readonly object: ObjectMetadata;
  readonly onTag: (tag: string) => void;
}

/** One secret in the list of all. */
export function ObjectRow({ object, onTag }: ObjectRowProps) {
  const { slug, description, tags, used_by = [], updated_at, rotation_due, reseal } = object;
  const rest = used_by.length - SHOWN_CONSUMERS;
  return (
    <div class="object">
      <p>
        <a href={linkTo(object)}>{slug}</a>
        {tags.map((tag) => (
          <button
            key={tag}
            type="button"
            class="chip"
            aria-label={`Only those tagged ${tag}`}
            onClick={() => onTag(tag)}
          >
            {tag}
          </button>
        ))}
        {rotation_due && <span class="chip bad">due for rotation</span>}
        {reseal && <span class="chip bad">to be sealed anew</span>}
      </p>
      {description !== undefined && <p class="quiet">{description}</p>}
      <p class="quiet">
        {used_by.length === 0 ? 'no consumers' : used_by.slice(0, SHOWN_CONSUMERS).join(', ')}
        {rest > 0 && <AllConsumers slug={slug} names={used_by} rest={rest} />}
        {updated_at && ` · since ${toDay(updated_at)}`}
      </p>
    </div>
  );
}
