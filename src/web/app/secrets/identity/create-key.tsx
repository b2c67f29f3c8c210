import { useState } from 'preact/hooks';
import { ActionButton } from '../../ui/buttons.js';
import { Form, FormError } from '../../ui/form.js';
import { showToast } from '../../ui/toasts.js';
import { useSealingError } from '../sealing-message.js';
import { ValueField } from '../secret-field.js';
import { CreatePhrase, StepHeading } from './create-phrase.js';
import { saveOwnerIdentity, type StoredPasskey } from './owner-keys.js';
import type { Identity } from './wrapping.js';

interface NewIdentityProps {
  readonly passkeys: readonly StoredPasskey[];
  readonly onDone: () => Promise<void>;
}

/** Creates the owner's identity in steps. Nothing is sent before the last step. */
export function CreateKey({ passkeys, onDone }: NewIdentityProps) {
  const [identity, setIdentity] = useState<Identity>();
  const [phrase, setPhrase] = useState<string>();
  const save = async (own: Identity, words: string, passkey: StoredPasskey | undefined): Promise<void> => {
    const { wrapWithPasskey, wrapWithPhrase } = await import('./wrapping.js');
    const wrapped = passkey && {
      credential_id: passkey.id,
      wrapped_identity: await wrapWithPasskey(own, passkey.id),
    };
    const recovery = await wrapWithPhrase(own, words);
    await saveOwnerIdentity({ public_key: own.publicKey, recovery_wrapped_identity: recovery, ...wrapped });
    await onDone();
    showToast('Key created.');
  };
  if (identity === undefined) return <Start onIdentity={setIdentity} />;
  if (phrase === undefined) return <CreatePhrase onPhrase={async (words) => setPhrase(words)} />;
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
      <ActionButton
        class="main"
        onAct={async () => onIdentity(await (await import('./wrapping.js')).generateOwnerIdentity())}
      >
        Create my key
      </ActionButton>
      <BringIdentity onIdentity={onIdentity} />
    </section>
  );
}

/** The form that imports an existing identity, for users with values that are already sealed to it. */
function BringIdentity({ onIdentity }: StartProps) {
  const [text, setText] = useState('');
  const [problem, bring] = useSealingError(async () => {
    onIdentity(await (await import('./wrapping.js')).parseIdentity(text));
  });
  return (
    <details class="fold">
      <summary>I already have an age identity</summary>
      <p class="quiet">
        Paste the output of <code>age-keygen</code>. It stays in this page; only encrypted copies are sent.
      </p>
      <Form verb="Continue" onSave={bring}>
        <ValueField label="Identity (AGE-SECRET-KEY-1…)" value={text} onValue={setText} />
        <FormError problem={problem} />
      </Form>
    </details>
  );
}

interface ChoosePasskeyProps {
  readonly passkeys: readonly StoredPasskey[];
  /** Called with `undefined` when the user chooses no passkey. */
  readonly onChosen: (passkey: StoredPasskey | undefined) => Promise<void>;
}

/** The last step of creating a key: selects a passkey that unlocks it, so that the phrase is only for recovery. */
function ChoosePasskey({ passkeys, onChosen }: ChoosePasskeyProps) {
  const [problem, choose] = useSealingError(onChosen);
  return (
    <section class="prose">
      <StepHeading>3. Unlock with a passkey</StepHeading>
      <p>
        A passkey can unlock your key too, if its device and this browser support that. You then need the phrase only if
        you lose the passkey. You can add more passkeys later.
      </p>
      <FormError problem={problem} />
      <div class="row wrapping">
        {passkeys.map((passkey) => (
          <ActionButton key={passkey.id} class="main" onAct={() => choose(passkey)}>
            Use the passkey “{passkey.nickname}”
          </ActionButton>
        ))}
        <ActionButton onAct={() => choose(undefined)}>Use only the phrase</ActionButton>
      </div>
    </section>
  );
}
