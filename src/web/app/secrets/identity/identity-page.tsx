import { useEffect, useMemo, useState } from 'preact/hooks';
import { ActionButton, CopyButton } from '../../ui/buttons.js';
import { Form, FormError } from '../../ui/form.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { formatDate } from '../../ui/times.js';
import { showError, showToast } from '../../ui/toasts.js';
import { SecretsLayout } from '../secrets-layout.js';
import { useSealingError } from '../secrets.js';
import { ValueField } from '../value-fields.js';
import { CreateKey, CreatePhrase } from './create-key.js';
import {
  loadOwnerKeys,
  type OwnerKeyData,
  saveOwnerIdentity,
  type StoredPasskey,
  useIdentityPrompt,
  useUnlockedIdentity,
} from './unlock.js';
import type { Identity } from './wrapping.js';

export function IdentityPage() {
  const keys = useResource(loadOwnerKeys);
  return (
    <SecretsLayout title="My key">
      <AsyncContent from={keys}>
        {(known) =>
          known.publicKey === undefined ? (
            <CreateKey passkeys={known.passkeys} onDone={keys.reload} />
          ) : (
            <KeyDetails keys={known} publicKey={known.publicKey} onChange={keys.reload} />
          )
        }
      </AsyncContent>
    </SecretsLayout>
  );
}

interface KnownIdentityProps {
  readonly keys: OwnerKeyData;
  readonly publicKey: string;
  readonly onChange: () => Promise<void>;
}

/** The owner's public key, with the passkeys and the recovery phrase that unlock the identity. */
function KeyDetails({ keys, publicKey, onChange }: KnownIdentityProps) {
  return (
    <>
      <h2>Public key</h2>
      <p class="quiet">Values that you can read are encrypted to this key. It isn’t secret.</p>
      <div class="row wrapping">
        <code class="key">{publicKey}</code>
        <CopyButton value={publicKey} what="your public key" />
      </div>
      <Passkeys passkeys={keys.passkeys} publicKey={publicKey} onChange={onChange} />
      <h2>Recovery phrase</h2>
      {keys.recovery === undefined ? (
        <AddPhrase publicKey={publicKey} onChange={onChange} />
      ) : (
        <RecoveryCopy recovery={keys.recovery} publicKey={publicKey} />
      )}
    </>
  );
}

interface PasskeysProps {
  readonly passkeys: readonly StoredPasskey[];
  readonly publicKey: string;
  readonly onChange: () => Promise<void>;
}

function Passkeys({ passkeys, publicKey, onChange }: PasskeysProps) {
  const unlocked = useUnlockedIdentity();
  const { withIdentity, prompt } = useIdentityPrompt(unlocked);
  const [problem, enable] = useSealingError((passkey: StoredPasskey) =>
    withIdentity({
      why: `To let the passkey “${passkey.nickname}” unlock your key, first unlock the key in another way.`,
      work: async (identity) => {
        if (identity.publicKey !== publicKey) throw new Error('This identity doesn’t match your public key.');
        const { wrapWithPasskey } = await import('./wrapping.js');
        const wrapped = await wrapWithPasskey(identity, passkey.id);
        await saveOwnerIdentity({ public_key: publicKey, credential_id: passkey.id, wrapped_identity: wrapped });
        await onChange();
        showToast(`The passkey “${passkey.nickname}” now unlocks your key.`);
      },
    }),
  );
  return (
    <section aria-labelledby="opening-passkeys">
      <h2 id="opening-passkeys">Passkeys</h2>
      <ul class="things">
        {passkeys.map((passkey) => (
          <li key={passkey.id}>
            <div>
              {passkey.nickname}
              <small>
                added {formatDate(passkey.created_at)} ·{' '}
                {passkey.wrapped_identity === undefined ? 'doesn’t unlock your key' : 'unlocks your key'}
              </small>
            </div>
            {passkey.wrapped_identity === undefined && (
              <ActionButton aria-label={`Enable ${passkey.nickname}`} onAct={() => enable(passkey)}>
                Enable
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
      <FormError problem={problem} />
      {prompt}
      <p class="quiet">
        Create passkeys in <a href="/settings">Settings</a>. Some devices, and passkeys created long ago, can’t unlock a
        key.
      </p>
    </section>
  );
}

interface RecoveryCopyProps {
  /** The identity, wrapped with the phrase: an armored age file. */
  readonly recovery: string;
  readonly publicKey: string;
}

/**
 * Offers the wrapped identity as a download. With the phrase it decrypts values without a passkey and without this
 * server.
 */
function RecoveryCopy({ recovery, publicKey }: RecoveryCopyProps) {
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
function AddPhrase({ publicKey, onChange }: AddPhraseProps) {
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
