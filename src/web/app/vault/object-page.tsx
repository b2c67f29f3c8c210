import { useCallback } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { Loaded } from '../shell/loaded.js';
import { toMoment } from '../shell/times.js';
import { useResource } from '../shell/use-resource.js';
import { ObjectActions } from './object-actions.js';
import { ObjectHistory } from './object-history.js';
import { listVariants } from './objects.js';
import type { ObjectMetadata } from './objects.js';
import { Rotate } from './rotate.js';
import { VaultFrame } from './vault-frame.js';

export function ObjectPage() {
  const { slug = '' } = useRoute().params;
  const load = useCallback(() => listVariants(slug), [slug]);
  const variants = useResource(load);
  return (
    <VaultFrame title={slug}>
      <Loaded from={variants}>
        {(list) => (
          <>
            {list.length === 0 && <p>There is no secret of this name.</p>}
            {list.length > 1 && <p class="quiet">{list.length} variants share this name, each for other consumers.</p>}
            {list.map((object) => (
              <Variant key={object.id} object={object} onChange={variants.reload} />
            ))}
          </>
        )}
      </Loaded>
    </VaultFrame>
  );
}

interface VariantProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

function Variant({ object, onChange }: VariantProps) {
  const {
    description,
    tags,
    used_by = [],
    created_at,
    updated_at,
    rotate_after_days,
    rotation_due_at,
    reseal,
  } = object;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['What it is for', description],
    ['Consumers', used_by.join(', ') || 'none'],
    ['Tags', tags.join(', ') || 'none'],
    ['Since', created_at && toMoment(created_at)],
    ['Value since', updated_at && toMoment(updated_at)],
    ['Rotation', rotate_after_days === undefined ? 'never due' : `every ${rotate_after_days} days`],
    ['Due', rotation_due_at && toMoment(rotation_due_at)],
    ['Recipients', object.recipient_count?.toString()],
    ['Id', object.id],
  ];
  return (
    <section class="variant" aria-label={`Variant for ${used_by.join(', ') || 'nobody'}`}>
      {reseal && (
        <p class="notes" role="status">
          Its readers have other keys than it is sealed to{reseal.missing ? `: ${reseal.missing.join(', ')}` : ''}.
          Replace its value to seal it anew.
        </p>
      )}
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      <ObjectActions object={object} onChange={onChange} />
      <Rotate object={object} onChange={onChange} />
      <ObjectHistory object={object} onChange={onChange} />
    </section>
  );
}
