import { useState } from 'preact/hooks';
import { describeProblem } from '../api.js';
import { ActionButton } from '../ui/buttons.js';
import { useIdentityPrompt, useUnlockedIdentity } from './identity/unlock.js';
import type { Identity } from './identity/wrapping.js';
import { linkToSecret, type ObjectMetadata } from './names.js';
import { toSealingProblem } from './sealing-message.js';

interface ResealAllProps {
  readonly objects: readonly ObjectMetadata[];
  readonly onChange: () => Promise<void>;
}

interface Failure {
  readonly object: ObjectMetadata;
  readonly reason: string;
}

/** Reseals all secrets whose recipients are out of date, and lists the ones that failed. */
export function ResealAll({ objects, onChange }: ResealAllProps) {
  const [status, setStatus] = useState('');
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const { withIdentity, prompt } = useIdentityPrompt(useUnlockedIdentity());
  const stale = objects.filter(({ reseal }) => reseal !== undefined);
  const work = async (identity: Identity): Promise<void> => {
    const failed = await resealEach(stale, identity, (done) => setStatus(`${done} of ${stale.length} processed …`));
    setFailures(failed);
    setStatus(`${stale.length - failed.length} of ${stale.length} re-encrypted.`);
    await onChange();
  };
  const why = `Unlock your key to re-encrypt ${stale.length === 1 ? 'one secret' : `${stale.length} secrets`}.`;
  return (
    <div class={stale.length > 0 || status !== '' ? 'notes' : ''}>
      {stale.length > 0 && (
        <p>
          {stale.length === 1 ? 'One secret is' : `${stale.length} secrets are`} encrypted to outdated keys.{' '}
          <ActionButton onAct={() => withIdentity({ why, work })}>Re-encrypt</ActionButton>
        </p>
      )}
      {prompt}
      <div role="status">
        {status !== '' && <p>{status}</p>}
        {failures.map(({ object, reason }) => (
          <p key={object.id} class="problem">
            <a href={linkToSecret(object)}>{object.slug}</a>: {reason}
          </p>
        ))}
      </div>
    </div>
  );
}

/** Reseals the secrets one after another, as each sends a write. A failure doesn't stop the others. */
async function resealEach(
  objects: readonly ObjectMetadata[],
  identity: Identity,
  onDone: (count: number) => void,
): Promise<Failure[]> {
  const { resealValue } = await import('./open-value.js');
  const failed: Failure[] = [];
  for (const [index, object] of objects.entries()) {
    await resealValue(object, identity).catch((error: unknown) =>
      failed.push({ object, reason: describeProblem(toSealingProblem(error)) }),
    );
    onDone(index + 1);
  }
  return failed;
}
