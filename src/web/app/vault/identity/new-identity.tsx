import { useState } from 'preact/hooks';
import { ActionButton } from '../../shell/action-button.js';
import { Form } from '../../shell/form.js';
import { Problem } from '../../shell/problem.js';
import { say } from '../../shell/toasts.js';
import { useSealingProblem } from '../use-sealing-problem.js';
import { ValueField } from '../value-field.js';
import { ChoosePasskey } from './choose-passkey.js';
import { MakePhrase } from './make-phrase.js';
import { keepIdentity } from './owner-keys.js';
import type { Passkey } from './owner-keys.js';
import type { Identity } from './wrapping.js';

interface NewIdentityProps {
  readonly passkeys: readonly Passkey[];
  readonly onDone: () => Promise<void>;
}

/** Creates the owner's identity in steps. Nothing is sent before the last step. */
export function NewIdentity({ passkeys, onDone }: NewIdentityProps) {
  const [identity, setIdentity] = useState<Identity>();
  const [phrase, setPhrase] = useState<string>();
  const save = async (own: Identity, words: string, passkey: Passkey | undefined): Promise<void> => {
    const { wrapByPasskey, wrapByPhrase } = await import('./wrapping.js');
    const wrapped = passkey && {
      credential_id: passkey.id,
      wrapped_identity: await wrapByPasskey(own, passkey.id),
    };
    const recovery = await wrapByPhrase(own, words);
    await keepIdentity({ public_key: own.publicKey, recovery_wrapped_identity: recovery, ...wrapped });
    await onDone();
    say('Key created.');
  };
  if (identity === undefined) return <Start onIdentity={setIdentity} />;
  if (phrase === undefined) return <MakePhrase onPhrase={async (words) => setPhrase(words)} />;
  return <ChoosePasskey passkeys={passkeys} onChosen={(passkey) => save(identity, phrase, passkey)} />;
}

interface StartProps {
  readonly onIdentity: (identity: Identity) => void;
}

function Start({ onIdentity }: StartProps) {
  return (
    <section class="prose">
      <p>
        Values are encrypted to the public keys of their consumers, and this server can’t decrypt them. To read values
        yourself, create a key pair. Values are then also encrypted to your public key, wherever you ask for it.
      </p>
      <p>
        The key pair is created in this browser. The server stores the public key, and copies of the private key that it
        can’t decrypt: one encrypted with a recovery phrase of 24 words, which you write down, and one encrypted with
        your passkey, if the device supports that.
      </p>
      <p>
        <strong>
          Anyone with the phrase can read your secrets. Without the phrase and the passkey, no one can, not even you.
        </strong>{' '}
        Have pen and paper ready.
      </p>
      <ActionButton class="main" onAct={async () => onIdentity(await (await import('./wrapping.js')).makeIdentity())}>
        Create my key
      </ActionButton>
      <BringIdentity onIdentity={onIdentity} />
    </section>
  );
}

/** The form that imports an existing identity, for users with values that are already sealed to it. */
function BringIdentity({ onIdentity }: StartProps) {
  const [text, setText] = useState('');
  const [problem, bring] = useSealingProblem(async () => {
    onIdentity(await (await import('./wrapping.js')).readIdentity(text));
  });
  return (
    <details class="fold">
      <summary>I already have an age identity</summary>
      <p class="quiet">
        Paste the output of <code>age-keygen</code>. It stays in this page; only encrypted copies are sent.
      </p>
      <Form verb="Continue" onSave={bring}>
        <ValueField label="Identity (AGE-SECRET-KEY-1…)" value={text} onValue={setText} />
        <Problem text={problem} />
      </Form>
    </details>
  );
}
