import { ActionButton } from '../../shell/action-button.js';
import { Problem } from '../../shell/problem.js';
import { useSealingProblem } from '../use-sealing-problem.js';
import type { Passkey } from './owner-keys.js';
import { StepHeading } from './step-heading.js';

interface ChoosePasskeyProps {
  readonly passkeys: readonly Passkey[];
  /** `undefined` for none. */
  readonly onChosen: (passkey: Passkey | undefined) => Promise<void>;
}

/** The last step: which passkey opens the identity, so that the phrase is for bad days. */
export function ChoosePasskey({ passkeys, onChosen }: ChoosePasskeyProps) {
  const [problem, choose] = useSealingProblem(onChosen);
  return (
    <section class="prose">
      <StepHeading>3. Open it with a passkey</StepHeading>
      <p>
        A passkey can open the identity too, where its device and this browser offer that. Then you need the phrase only
        if you lose the passkey. Others can be added later.
      </p>
      <Problem text={problem} />
      <div class="row wrapping">
        {passkeys.map((passkey) => (
          <ActionButton key={passkey.id} class="main" onAct={() => choose(passkey)}>
            Use the passkey “{passkey.nickname}”
          </ActionButton>
        ))}
        <ActionButton onAct={() => choose(undefined)}>Keep the phrase alone</ActionButton>
      </div>
    </section>
  );
}
