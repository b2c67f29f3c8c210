import { ActionButton, CopyButton } from '../../ui/buttons.js';
import { FormError } from '../../ui/form.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { formatDate } from '../../ui/times.js';
import { showToast } from '../../ui/toasts.js';
import { useSealingError } from '../sealing-message.js';
import { SecretsLayout } from '../secrets-layout.js';
import { CreateKey } from './create-key.js';
import { loadOwnerKeys, type OwnerKeyData, saveOwnerIdentity, type StoredPasskey } from './owner-keys.js';
import { AddPhrase, RecoveryCopy } from './recovery-phrase.js';
import { useIdentityPrompt, useUnlockedIdentity } from './unlock.js';

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
