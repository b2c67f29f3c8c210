import { useEffect, useRef, useState } from 'preact/hooks';
import { ActionButton } from '../shell/action-button.js';
import { say } from '../shell/toasts.js';
import { useAsking } from './identity/use-unlocked.js';
import type { Unlocked } from './identity/use-unlocked.js';
import type { ObjectMetadata } from './objects.js';
import { OpenedValue } from './opened-value.js';
import { Problem } from '../shell/problem.js';
import { useSealingProblem } from './use-sealing-problem.js';

interface ReadValueProps {
  readonly object: ObjectMetadata;
  /** Whether the owner is a recipient; `undefined` when the recipients are not recorded. */
  readonly isReadable: boolean | undefined;
  readonly unlocked: Unlocked;
  readonly onChange: () => Promise<void>;
}

/** Shows and reseals a value with the owner's identity, or with an identity that the user pastes. */
export function ReadValue({ object, isReadable, unlocked, onChange }: ReadValueProps) {
  const { slug, updated_at, reseal } = object;
  const [value, setValue] = useState<Uint8Array<ArrayBuffer>>();
  const container = useRef<HTMLDivElement>(null);
  const { withIdentity, question } = useAsking(unlocked);
  useEffect(() => setValue(undefined), [updated_at]);
  const [problem, show] = useSealingProblem(() =>
    withIdentity({
      why: `Unlock your key to show “${slug}”.`,
      work: async (identity) => setValue(await (await import('./open-value.js')).openValue(object, identity)),
    }),
  );
  const [resealProblem, reencrypt] = useSealingProblem(() =>
    withIdentity({
      why: `Unlock your key to re-encrypt “${slug}”.`,
      work: async (identity) => {
        await (await import('./open-value.js')).resealValue(object, identity);
        await onChange();
        say(`“${slug}” re-encrypted to your key and the current keys of its consumers.`);
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
      <Problem text={problem ?? resealProblem} />
      {question}
      {value && <OpenedValue slug={slug} value={value} onHide={hide} />}
    </div>
  );
}
