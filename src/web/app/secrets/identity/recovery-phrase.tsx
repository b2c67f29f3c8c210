import { useEffect, useMemo, useState } from 'preact/hooks';
import { ActionButton } from '../../ui/buttons.js';
import { Form, FormError } from '../../ui/form.js';
import { showError, showToast } from '../../ui/toasts.js';
import { useSealingError } from '../sealing-message.js';
import { ValueField } from '../secret-field.js';
import { CreatePhrase } from './create-phrase.js';
import { saveOwnerIdentity } from './owner-keys.js';
import { useIdentityPrompt, useUnlockedIdentity } from './unlock.js';
import type { Identity } from './wrapping.js';

interface RecoveryCopyProps {
  /** The identity, wrapped with the phrase: an armored age file. */
  readonly recovery: string;
  readonly publicKey: string;
}

/**
 * Offers the wrapped identity as a download. With the phrase it decrypts values without a passkey and without this
 * server.
 */
export function RecoveryCopy({ recovery, publicKey }: RecoveryCopyProps) {
  const url = useMemo(() => URL.createObjectURL(new Blob([recovery], { type: 'text/plain' })), [recovery]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <>
      <p class="quiet">
        Your phrase decrypts this copy of your key, here or with the <code>age</code> program:{' '}
        <code>age -d -i identity.age secret.age</code> asks for the phrase and decrypts a downloaded value.
      </p>
      <a class="button" href={url} download="identity.age">
        Download copy
      </a>
      <TryPhrase recovery={recovery} publicKey={publicKey} />
    </>
  );
}

/** Lets the user test the phrase before it is needed. */
function TryPhrase({ recovery, publicKey }: RecoveryCopyProps) {
  const [text, setText] = useState('');
  const [problem, test] = useSealingError(async () => {
    const [{ parsePhrase }, { unwrapWithPhrase }] = await Promise.all([import('./phrase.js'), import('./wrapping.js')]);
    const identity = await unwrapWithPhrase(recovery, parsePhrase(text));
    if (identity.publicKey !== publicKey) throw new Error('This phrase belongs to a different key.');
    setText('');
    showToast('This phrase unlocks your key.');
  });
  return (
    <details class="fold">
      <summary>Test the phrase</summary>
      <Form verb="Test" onSave={test}>
        <ValueField label="Recovery phrase (24 words)" value={text} onValue={setText} />
        <FormError problem={problem} />
      </Form>
    </details>
  );
}

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
      showError(
        new Error('A recovery phrase was added on another page in the meantime. Use that one; discard this one.'),
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
