import { useEffect, useRef, useState } from 'preact/hooks';
import { ActionButton } from '../ui/action-button.js';
import { showToast } from '../ui/toasts.js';
import { useIdentityPrompt } from './identity/use-identity-prompt.js';
import type { UnlockedIdentity } from './identity/use-identity-prompt.js';
import type { ObjectMetadata } from './secrets.js';
import { RevealedValue } from './revealed-value.js';
import { FormError } from '../ui/form-error.js';
import { useSealingError } from './use-sealing-error.js';

interface ReadValueProps {
  readonly object: ObjectMetadata;
  /** Whether the owner is a recipient; `undefined` when the recipients are not recorded. */
  readonly isReadable: boolean | undefined;
  readonly unlocked: UnlockedIdentity;
  readonly onChange: () => Promise<void>;
}

/** Shows and reseals a value with the owner's identity, or with an identity that the user pastes. */
export function RevealValue({ object, isReadable, unlocked, onChange }: ReadValueProps) {
  const { slug, updated_at, reseal } = object;
  const [value, setValue] = useState<Uint8Array<ArrayBuffer>>();
  const container = useRef<HTMLDivElement>(null);
  const { withIdentity, prompt } = useIdentityPrompt(unlocked);
  useEffect(() => setValue(undefined), [updated_at]);
  const [problem, show] = useSealingError(() =>
    withIdentity({
      why: `Unlock your key to show “${slug}”.`,
      work: async (identity) => setValue(await (await import('./open-value.js')).openValue(object, identity)),
    }),
  );
  const [resealProblem, reencrypt] = useSealingError(() =>
    withIdentity({
      why: `Unlock your key to re-encrypt “${slug}”.`,
      work: async (identity) => {
        await (await import('./open-value.js')).resealValue(object, identity);
        await onChange();
        showToast(`“${slug}” re-encrypted to your key and the current keys of its consumers.`);
      },
    }),
  );
  const hide = (): void => {
    // The focused element disappears; the focus returns to the button that showed the value.
    if (container.current?.contains(document.activeElement)) container.current.querySelector('button')?.focus();
    setValue(undefined);
  };
  return (
    <div ref={container}>
      {isReadable === false && (
        <p class="notes">
          Only its consumers can decrypt this value; it isn’t encrypted to your key. To show it here, paste the identity
          of a consumer. To read it with your own key, replace the value and encrypt it to your key too.
        </p>
      )}
      <div class="row wrapping">
        <ActionButton class={reseal || isReadable === false ? '' : 'main'} onAct={show}>
          Show value
        </ActionButton>
        <ActionButton class={reseal ? 'main' : ''} onAct={reencrypt}>
          Re-encrypt
        </ActionButton>
      </div>
      <FormError text={problem ?? resealProblem} />
      {prompt}
      {value && <RevealedValue slug={slug} value={value} onHide={hide} />}
    </div>
  );
}
