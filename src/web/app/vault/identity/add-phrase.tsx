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

/** For an identity that came without a phrase, such as from another client: it is opened once more, and wrapped by one. */
export function AddPhrase({ publicKey, onChange }: AddPhraseProps) {
  const [identity, setIdentity] = useState<Identity>();
  const { withIdentity, question } = useAsking(useUnlocked());
  const save = async (own: Identity, phrase: string): Promise<void> => {
    const { wrapByPhrase } = await import('./wrapping.js');
    const recovery = await wrapByPhrase(own, phrase);
    const kept = await keepIdentity({ public_key: publicKey, recovery_wrapped_identity: recovery });
    await onChange();
    if (kept.recovery_wrapped_identity === recovery) say('The recovery phrase opens your identity from now on.');
    else
      say('Another page was faster: the phrase that it showed is the one that holds. Throw this one away.', 'failed');
  };
  if (identity !== undefined) return <MakePhrase onPhrase={(phrase) => save(identity, phrase)} />;
  const start = () =>
    withIdentity({
      why: 'To wrap your identity by a recovery phrase, it has to be opened first.',
      work: async (found) => {
        if (found.publicKey !== publicKey) throw new Error('That identity is another: its public key is not yours.');
        setIdentity(found);
      },
    });
  return (
    <div class="prose">
      <p class="notes">
        There is no recovery phrase. If the passkeys above are lost, and every copy of the identity that you keep
        elsewhere, nobody can read what is sealed to it.
      </p>
      <ActionButton class="main" onAct={start}>
        Add a recovery phrase
      </ActionButton>
      {question}
    </div>
  );
}
