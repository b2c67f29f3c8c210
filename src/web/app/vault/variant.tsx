import { Facts } from './facts.js';
import type { Unlocked } from './identity/use-unlocked.js';
import { ObjectActions } from './object-actions.js';
import { ObjectHistory } from './object-history.js';
import type { ObjectMetadata } from './objects.js';
import { ReadValue } from './read-value.js';
import { Rotate } from './rotate.js';

interface VariantProps {
  readonly object: ObjectMetadata;
  /** The owner's public key, where there is one and it is known. */
  readonly ownKey: string | undefined;
  readonly unlocked: Unlocked;
  readonly onChange: () => Promise<void>;
  readonly onGone: () => Promise<void>;
}

/** One object: what is known of it, and all that can be done with it. */
export function Variant({ object, ownKey, unlocked, onChange, onGone }: VariantProps) {
  const { used_by = [], recipients, reseal } = object;
  const isReadable = ownKey === undefined ? undefined : recipients?.includes(ownKey);
  return (
    <section class="variant" aria-label={`Variant for ${used_by.join(', ') || 'nobody'}`}>
      {reseal && (
        <p class="notes" role="status">
          Its consumers have other keys than it is sealed to{reseal.missing ? `: ${reseal.missing.join(', ')}` : ''}.
          Seal it anew, or replace its value.
        </p>
      )}
      <Facts object={object} isReadable={isReadable} />
      <ReadValue object={object} isReadable={isReadable} unlocked={unlocked} onChange={onChange} />
      <Rotate object={object} onChange={onChange} />
      <ObjectActions object={object} onGone={onGone} />
      <ObjectHistory object={object} onChange={onChange} />
    </section>
  );
}
