import { useCallback, useState } from 'preact/hooks';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { findOwnPublicKey } from '../recipients.js';
import { CreateKey } from './create-key.js';
import { loadOwnerKeys } from './owner-keys.js';

interface FirstKey {
  /** Resolves to true once the owner has a key, and to false if the user cancels its creation. */
  readonly ensureKey: () => Promise<boolean>;
  /** The steps of creating the key, while they are needed. */
  readonly steps: ReturnType<typeof KeySteps> | undefined;
}

/** Creates the owner's key in the flow of the first form that needs it, which continues afterwards. */
export function useFirstKey(): FirstKey {
  const [settle, setSettle] = useState<(hasKey: boolean) => void>();
  const ensureKey = async (): Promise<boolean> => {
    if ((await findOwnPublicKey()) !== undefined) return true;
    return new Promise((resolve) => {
      setSettle(() => (hasKey: boolean) => {
        setSettle(undefined);
        resolve(hasKey);
      });
    });
  };
  return { ensureKey, steps: settle && <KeySteps onSettled={settle} /> };
}

function KeySteps({ onSettled }: { readonly onSettled: (hasKey: boolean) => void }) {
  const keys = useResource(useCallback(loadOwnerKeys, []));
  return (
    <section class="first-key" aria-label="Create your key">
      <p class="notes">
        Nothing has been saved yet. You need a key to read this value later; the value is encrypted and saved as soon as
        you have it.
      </p>
      <AsyncContent from={keys}>
        {({ passkeys }) => <CreateKey passkeys={passkeys} onDone={async () => onSettled(true)} />}
      </AsyncContent>
      <p>
        <button type="button" onClick={() => onSettled(false)}>
          Back to the form
        </button>
      </p>
    </section>
  );
}
