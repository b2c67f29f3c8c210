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
  /** Whether it is sealed to the owner; `undefined` where nobody recorded that. */
  readonly isReadable: boolean | undefined;
  readonly unlocked: Unlocked;
  readonly onChange: () => Promise<void>;
}

/** What the owner's identity is good for: to read the value here, and to seal the same value to other keys. */
export function ReadValue({ object, isReadable, unlocked, onChange }: ReadValueProps) {
  const { slug, updated_at, reseal } = object;
  const [value, setValue] = useState<Uint8Array<ArrayBuffer>>();
  const place = useRef<HTMLDivElement>(null);
  const { withIdentity, question } = useAsking(unlocked);
  useEffect(() => setValue(undefined), [updated_at]);
  const [problem, show] = useSealingProblem(() =>
    withIdentity({
      why: `To open “${slug}”, your identity is needed.`,
      work: async (identity) => setValue(await (await import('./open-value.js')).openValue(object, identity)),
    }),
  );
  const [refusal, sealAnew] = useSealingProblem(() =>
    withIdentity({
      why: `To seal the value of “${slug}” anew, it has to be opened with your identity first.`,
      work: async (identity) => {
        await (await import('./open-value.js')).resealValue(object, identity);
        await onChange();
        say(`“${slug}” is sealed anew, to the keys that its consumers have now and to you.`);
      },
    }),
  );
  const hide = (): void => {
    // What has the focus goes; whoever was there goes on where they began.
    if (place.current?.contains(document.activeElement)) place.current.querySelector('button')?.focus();
    setValue(undefined);
  };
  return (
    <div ref={place}>
      {isReadable === false && (
        <p class="notes">
          Only its consumers can open this value: there is no copy for you. With the identity of one of them it opens
          here all the same; to read it by your own, replace it, and seal it to your own key too.
        </p>
      )}
      <div class="row wrapping">
        <ActionButton class={reseal || isReadable === false ? '' : 'main'} onAct={show}>
          Open here
        </ActionButton>
        <ActionButton class={reseal ? 'main' : ''} onAct={sealAnew}>
          Seal anew
        </ActionButton>
      </div>
      <Problem text={problem ?? refusal} />
      {question}
      {value && <OpenedValue slug={slug} value={value} onHide={hide} />}
    </div>
  );
}
