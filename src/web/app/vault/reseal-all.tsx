import { useState } from 'preact/hooks';
import { ActionButton } from '../shell/action-button.js';
import { explainSealing } from './explain-sealing.js';
import { useAsking, useUnlocked } from './identity/use-unlocked.js';
import type { Identity } from './identity/wrapping.js';
import { linkTo } from './objects.js';
import type { ObjectMetadata } from './objects.js';

interface ResealAllProps {
  readonly objects: readonly ObjectMetadata[];
  readonly onChange: () => Promise<void>;
}

interface Refusal {
  readonly object: ObjectMetadata;
  readonly why: string;
}

/** Seals all those anew whose readers have other keys than they are sealed to, and tells which could not be. */
export function ResealAll({ objects, onChange }: ResealAllProps) {
  const [said, setSaid] = useState('');
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const { withIdentity, question } = useAsking(useUnlocked());
  const stale = objects.filter(({ reseal }) => reseal !== undefined);
  const work = async (identity: Identity): Promise<void> => {
    const refused = await resealEach(stale, identity, (done) => setSaid(`${done} of ${stale.length} looked at …`));
    setRefusals(refused);
    setSaid(`${stale.length - refused.length} of ${stale.length} are sealed anew.`);
    await onChange();
  };
  const [what, pronoun] = stale.length === 1 ? ['a value', 'it has'] : [`${stale.length} values`, 'they have'];
  const why = `To seal ${what} anew, ${pronoun} to be opened with your identity first.`;
  return (
    <div class={stale.length > 0 || said !== '' ? 'notes' : ''}>
      {stale.length > 0 && (
        <p>
          {stale.length === 1 ? 'One secret is' : `${stale.length} secrets are`} sealed to other keys than the consumers
          have now. <ActionButton onAct={() => withIdentity({ why, work })}>Seal anew</ActionButton>
        </p>
      )}
      {question}
      <div role="status">
        {said !== '' && <p>{said}</p>}
        {refusals.map(({ object, why: reason }) => (
          <p key={object.id} class="problem">
            <a href={linkTo(object)}>{object.slug}</a>: {reason}
          </p>
        ))}
      </div>
    </div>
  );
}

/** One after another, as each is a request that writes; what one is refused stops none of the others. */
async function resealEach(
  objects: readonly ObjectMetadata[],
  identity: Identity,
  onDone: (count: number) => void,
): Promise<Refusal[]> {
  const { resealValue } = await import('./open-value.js');
  const refused: Refusal[] = [];
  for (const [index, object] of objects.entries()) {
    await resealValue(object, identity).catch((error: unknown) => refused.push({ object, why: explainSealing(error) }));
    onDone(index + 1);
  }
  return refused;
}
