import { useState } from 'preact/hooks';
import { ActionButton } from '../../shell/action-button.js';
import { say } from '../../shell/toasts.js';
import { ChoosePasskey } from './choose-passkey.js';
import { keepIdentity } from './owner-keys.js';
import type { Passkey } from './owner-keys.js';
import { PhraseList } from './phrase-list.js';
import { PhraseQuestion } from './phrase-question.js';
import type { Identity } from './wrapping.js';

interface NewIdentityProps {
  readonly passkeys: readonly Passkey[];
  readonly onDone: () => Promise<void>;
}

interface Made {
  readonly identity: Identity;
  readonly words: readonly string[];
}

type Step = 'ask' | 'passkey' | 'start' | 'words';

/** Makes the owner's identity, step by step. Nothing leaves the page before the last one. */
export function NewIdentity({ passkeys, onDone }: NewIdentityProps) {
  const [step, setStep] = useState<Step>('start');
  const [made, setMade] = useState<Made>();
  const start = async (): Promise<void> => {
    const [{ makeIdentity }, { makePhrase }] = await Promise.all([import('./wrapping.js'), import('./phrase.js')]);
    setMade({ identity: await makeIdentity(), words: makePhrase() });
    setStep('words');
  };
  const save = async ({ identity, words }: Made, passkey: Passkey | undefined): Promise<void> => {
    const { wrapByPasskey, wrapByPhrase } = await import('./wrapping.js');
    const wrapped = passkey && {
      credential_id: passkey.id,
      wrapped_identity: await wrapByPasskey(identity, passkey.id),
    };
    const recovery = await wrapByPhrase(identity, words.join(' '));
    await keepIdentity({ public_key: identity.publicKey, recovery_wrapped_identity: recovery, ...wrapped });
    await onDone();
    say('Your identity is made.');
  };
  if (made === undefined || step === 'start') return <Start onStart={start} />;
  if (step === 'words') return <PhraseList words={made.words} onNext={() => setStep('ask')} />;
  if (step === 'ask') {
    return <PhraseQuestion words={made.words} onBack={() => setStep('words')} onNext={() => setStep('passkey')} />;
  }
  return <ChoosePasskey passkeys={passkeys} onChosen={(passkey) => save(made, passkey)} />;
}

function Start({ onStart }: { readonly onStart: () => Promise<void> }) {
  return (
    <section class="prose">
      <p>
        Values here are sealed to the keys of their consumers, and this server can’t open one. To read a value yourself,
        you need an identity of your own: a key pair whose secret half never leaves your hands. Values are sealed to its
        public half where you ask for a copy that you can read.
      </p>
      <p>
        It is made in this browser. The server keeps its public half, and copies of the secret half that are wrapped
        before they are sent: one by a recovery phrase of 24 words, which you write down, and one by your passkey where
        the device can do that.
      </p>
      <p>
        <strong>
          Whoever has the phrase can read your secrets; without phrase and passkey nobody can, you included.
        </strong>{' '}
        Have pen and paper ready.
      </p>
      <ActionButton class="main" onAct={onStart}>
        Make my identity
      </ActionButton>
    </section>
  );
}
