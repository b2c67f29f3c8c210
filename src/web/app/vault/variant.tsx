import { Facts } from './facts.js';
import type { Unlocked } from './identity/use-unlocked.js';
import { ObjectActions } from './object-actions.js';
import { ObjectHistory } from './object-history.js';
import type { ObjectMetadata } from './objects.js';
import { ReadValue } from './read-value.js';
import { Rotate } from './rotate.js';

interface VariantProps {
  readonly object: ObjectMetadata;
  /** The owner's public key; `undefined` when the owner has no identity, or while it loads. */
  readonly ownKey: string | undefined;
  readonly unlocked: Unlocked;
  readonly onChange: () => Promise<void>;
  readonly onDeleted: () => Promise<void>;
}

/** One variant of a secret, with its metadata, actions and history. */
export function Variant({ object, ownKey, unlocked, onChange, onDeleted }: VariantProps) {
  const { used_by = [], recipients, reseal } = object;
  const isReadable = ownKey === undefined ? undefined : recipients?.includes(ownKey);
  return (
    <section
      class="variant"
      aria-label={used_by.length === 0 ? 'Variant without consumers' : `Variant for ${used_by.join(', ')}`}
    >
      {reseal && (
        <p class="notes" role="status">
          This value is encrypted to outdated keys{reseal.missing ? ` (missing: ${reseal.missing.join(', ')})` : ''}.
          Re-encrypt or replace it.
        </p>
      )}
      <Facts object={object} isReadable={isReadable} />
      <ReadValue object={object} isReadable={isReadable} unlocked={unlocked} onChange={onChange} />
      <Rotate object={object} onChange={onChange} />
      <ObjectActions object={object} onDeleted={onDeleted} />
      <ObjectHistory object={object} onChange={onChange} />
    </section>
  );
}
