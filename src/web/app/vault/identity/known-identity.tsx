import { ActionButton } from '../../shell/action-button.js';
import { CopyButton } from '../../shell/copy-button.js';
import { toDay } from '../../shell/times.js';
import { say } from '../../shell/toasts.js';
import { Problem } from '../../shell/problem.js';
import { useSealingProblem } from '../use-sealing-problem.js';
import { AddPhrase } from './add-phrase.js';
import { keepIdentity } from './owner-keys.js';
import type { OwnerKeys, Passkey } from './owner-keys.js';
import { RecoveryCopy } from './recovery-copy.js';
import { useAsking, useUnlocked } from './use-unlocked.js';

interface KnownIdentityProps {
  readonly keys: OwnerKeys;
  readonly publicKey: string;
  readonly onChange: () => Promise<void>;
}

/** The owner's public key, with the passkeys and the recovery phrase that unlock the identity. */
export function KnownIdentity({ keys, publicKey, onChange }: KnownIdentityProps) {
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
  readonly passkeys: readonly Passkey[];
  readonly publicKey: string;
  readonly onChange: () => Promise<void>;
}

function Passkeys({ passkeys, publicKey, onChange }: PasskeysProps) {
  const unlocked = useUnlocked();
  const { withIdentity, question } = useAsking(unlocked);
  const [problem, enable] = useSealingProblem((passkey: Passkey) =>
    withIdentity({
      why: `To let the passkey “${passkey.nickname}” unlock your key, first unlock the key in another way.`,
      work: async (identity) => {
        if (identity.publicKey !== publicKey) throw new Error('This identity doesn’t match your public key.');
        const { wrapByPasskey } = await import('./wrapping.js');
        const wrapped = await wrapByPasskey(identity, passkey.id);
        await keepIdentity({ public_key: publicKey, credential_id: passkey.id, wrapped_identity: wrapped });
        await onChange();
        say(`The passkey “${passkey.nickname}” now unlocks your key.`);
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
                added {toDay(passkey.created_at)} ·{' '}
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
      <Problem text={problem} />
      {question}
      <p class="quiet">
        Create passkeys in <a href="/settings">Settings</a>. Some devices, and passkeys created long ago, can’t unlock a
        key.
      </p>
    </section>
  );
}
