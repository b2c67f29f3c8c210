import { useState } from 'preact/hooks';
import { ActionButton } from '../../shell/action-button.js';
import { say } from '../../shell/toasts.js';
import { MakePhrase } from './make-phrase.js';
import { keepIdentity } from './owner-keys.js';
import { useAsking, useUnlocked } from './use-unlocked.js';
import type { Identity } from './wrapping.js';

interface AddPhraseProps {
  readonly publicKey: string;
  readonly onChange: () => Promise<void>;
}

/** Adds a recovery phrase to an identity without one, such as an identity that another client registered. */
export function AddPhrase({ publicKey, onChange }: AddPhraseProps) {
  const [identity, setIdentity] = useState<Identity>();
  const { withIdentity, question } = useAsking(useUnlocked());
  const save = async (own: Identity, phrase: string): Promise<void> => {
    const { wrapByPhrase } = await import('./wrapping.js');
    const recovery = await wrapByPhrase(own, phrase);
    const saved = await keepIdentity({ public_key: publicKey, recovery_wrapped_identity: recovery });
    await onChange();
    if (saved.recovery_wrapped_identity === recovery) say('Recovery phrase added.');
    else say('A recovery phrase was added on another page in the meantime. Use that one; discard this one.', 'failed');
  };
  if (identity !== undefined) return <MakePhrase onPhrase={(phrase) => save(identity, phrase)} />;
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
      {question}
    </div>
  );
}
