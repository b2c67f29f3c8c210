import { useState } from 'preact/hooks';
import { ActionButton } from '../../ui/action-button.js';
import { showToast } from '../../ui/toasts.js';
import { CreatePhrase } from './create-phrase.js';
import { saveOwnerIdentity } from './owner-keys.js';
import { useIdentityPrompt, useUnlockedIdentity } from './use-identity-prompt.js';
import type { Identity } from './wrapping.js';

interface AddPhraseProps {
  readonly publicKey: string;
  readonly onChange: () => Promise<void>;
}

/** Adds a recovery phrase to an identity without one, such as an identity that another client registered. */
export function AddPhrase({ publicKey, onChange }: AddPhraseProps) {
  const [identity, setIdentity] = useState<Identity>();
  const { withIdentity, prompt } = useIdentityPrompt(useUnlockedIdentity());
  const save = async (own: Identity, phrase: string): Promise<void> => {
    const { wrapWithPhrase } = await import('./wrapping.js');
    const recovery = await wrapWithPhrase(own, phrase);
    const saved = await saveOwnerIdentity({ public_key: publicKey, recovery_wrapped_identity: recovery });
    await onChange();
    if (saved.recovery_wrapped_identity === recovery) showToast('Recovery phrase added.');
    else
      showToast(
        'A recovery phrase was added on another page in the meantime. Use that one; discard this one.',
        'failed',
      );
  };
  if (identity !== undefined) return <CreatePhrase onPhrase={(phrase) => save(identity, phrase)} />;
  const start = () =>
    withIdentity({
      why: 'Unlock your key to add a recovery phrase.',
      work: async (found) => {
        if (found.publicKey !== publicKey) throw new Error('This identity doesn’t match your public key.');
        setIdentity(found);
      },
    });
  return (
    <div class="prose">
      <p class="notes">
        You have no recovery phrase. If you lose the passkeys above and every other copy of your key, no one can read
        the values that are encrypted to it.
      </p>
      <ActionButton class="main" onAct={start}>
        Add recovery phrase
      </ActionButton>
      {prompt}
    </div>
  );
}
