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

/** What there is of the owner's identity, and what opens it. */
export function KnownIdentity({ keys, publicKey, onChange }: KnownIdentityProps) {
  return (
    <>
      <h2>Public key</h2>
      <p class="quiet">Values that you can read are sealed to this key. It may be known to anybody.</p>
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
  const [problem, add] = useSealingProblem((passkey: Passkey) =>
    withIdentity({
      why: `To let the passkey “${passkey.nickname}” open your identity, it has to be opened first.`,
      work: async (identity) => {
        if (identity.publicKey !== publicKey) throw new Error('That identity is another: its public key is not yours.');
        const { wrapByPasskey } = await import('./wrapping.js');
        const wrapped = await wrapByPasskey(identity, passkey.id);
        await keepIdentity({ public_key: publicKey, credential_id: passkey.id, wrapped_identity: wrapped });
        await onChange();
        say(`The passkey “${passkey.nickname}” opens your identity from now on.`);
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
                since {toDay(passkey.created_at)} ·{' '}
                {passkey.wrapped_identity === undefined ? 'doesn’t open your identity' : 'opens your identity'}
              </small>
            </div>
            {passkey.wrapped_identity === undefined && (
              <ActionButton aria-label={`Add ${passkey.nickname}`} onAct={() => add(passkey)}>
                Add
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
      <Problem text={problem} />
      {question}
      <p class="quiet">
        New passkeys are made in <a href="/settings">settings</a>. One that was made long ago, or on a device that can’t
        do it, may not be able to open an identity.
      </p>
    </section>
  );
}
