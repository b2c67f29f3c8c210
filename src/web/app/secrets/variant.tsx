import { SecretDetails } from './secret-details.js';
import type { UnlockedIdentity } from './identity/use-identity-prompt.js';
import { SecretActions } from './secret-actions.js';
import { SecretHistory } from './secret-history.js';
import type { ObjectMetadata } from './secrets.js';
import { RevealValue } from './reveal-value.js';
import { ReplaceValue } from './replace-value.js';

interface VariantProps {
  readonly object: ObjectMetadata;
  /** The owner's public key; `undefined` when the owner has no identity, or while it loads. */
  readonly ownKey: string | undefined;
  readonly unlocked: UnlockedIdentity;
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
      <SecretDetails object={object} isReadable={isReadable} />
      <RevealValue object={object} isReadable={isReadable} unlocked={unlocked} onChange={onChange} />
      <ReplaceValue object={object} onChange={onChange} />
      <SecretActions object={object} onDeleted={onDeleted} />
      <SecretHistory object={object} onChange={onChange} />
    </section>
  );
}
