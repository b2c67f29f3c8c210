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

/** Makes the owner's identity, step by step. Nothing leaves the page before the last one. */
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
    say('Your identity is made.');
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
      <ActionButton class="main" onAct={async () => onIdentity(await (await import('./wrapping.js')).makeIdentity())}>
        Make my identity
      </ActionButton>
      <BringIdentity onIdentity={onIdentity} />
    </section>
  );
}

/** For whoever has values that are sealed to a key of theirs already. */
function BringIdentity({ onIdentity }: StartProps) {
  const [text, setText] = useState('');
  const [problem, bring] = useSealingProblem(async () => {
    onIdentity(await (await import('./wrapping.js')).readIdentity(text));
  });
  return (
    <details class="fold">
      <summary>I have an age identity already</summary>
      <p class="quiet">
        As <code>age-keygen</code> writes it. It stays in this page, and is wrapped before anything is sent.
      </p>
      <Form verb="Go on with it" onSave={bring}>
        <ValueField label="Identity (AGE-SECRET-KEY-1…)" value={text} onValue={setText} />
        <Problem text={problem} />
      </Form>
    </details>
  );
}
