import { useCallback } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { Loaded } from '../shell/loaded.js';
import { toMoment } from '../shell/times.js';
import { useResource } from '../shell/use-resource.js';
import { useUnlocked } from './identity/use-unlocked.js';
import type { Unlocked } from './identity/use-unlocked.js';
import { ObjectActions } from './object-actions.js';
import { ObjectHistory } from './object-history.js';
import { listVariants } from './objects.js';
import type { ObjectMetadata } from './objects.js';
import { ReadValue } from './read-value.js';
import { Rotate } from './rotate.js';
import { VaultFrame } from './vault-frame.js';

export function ObjectPage() {
  const { slug = '' } = useRoute().params;
  const load = useCallback(() => listVariants(slug), [slug]);
  const variants = useResource(load);
  const unlocked = useUnlocked();
  const { route } = useLocation();
  const leave = async (): Promise<void> => route('/vault', true);
  return (
    <VaultFrame title={slug}>
      <Loaded from={variants}>
        {(list) => (
          <>
            {list.length === 0 && (
              <p>
                There is no secret of this name. <a href="/vault">All secrets</a>
              </p>
            )}
            {list.length > 1 && <p class="quiet">{list.length} variants share this name, each for other consumers.</p>}
            {list.map((object) => (
              <Variant
                key={object.id}
                object={object}
                unlocked={unlocked}
                onChange={variants.reload}
                onGone={list.length > 1 ? variants.reload : leave}
              />
            ))}
          </>
        )}
      </Loaded>
    </VaultFrame>
  );
}

interface VariantProps {
  readonly object: ObjectMetadata;
  readonly unlocked: Unlocked;
  readonly onChange: () => Promise<void>;
  readonly onGone: () => Promise<void>;
}

function Variant({ object, unlocked, onChange, onGone }: VariantProps) {
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
    ['Created', created_at && toMoment(created_at)],
    ['Value from', updated_at && toMoment(updated_at)],
    ['Rotation', rotate_after_days === undefined ? 'never due' : `every ${rotate_after_days} days`],
    ['Due', rotation_due_at && toMoment(rotation_due_at)],
    ['Sealed to', object.recipient_count === 1 ? 'one key' : `${object.recipient_count} keys`],
    ['Id', object.id],
  ];
  return (
    <section class="variant" aria-label={`Variant for ${used_by.join(', ') || 'nobody'}`}>
      {reseal && (
        <p class="notes" role="status">
          Its consumers have other keys than it is sealed to{reseal.missing ? `: ${reseal.missing.join(', ')}` : ''}.
          Seal it anew, or replace its value.
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
      <ReadValue object={object} unlocked={unlocked} onChange={onChange} />
      <Rotate object={object} onChange={onChange} />
      <ObjectActions object={object} onGone={onGone} />
      <ObjectHistory object={object} onChange={onChange} />
    </section>
  );
}
