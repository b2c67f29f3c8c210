import { ActionButton } from '../../ui/action-button.js';
import { FormError } from '../../ui/form-error.js';
import { useSealingError } from '../use-sealing-error.js';
import type { StoredPasskey } from './owner-keys.js';
import { StepHeading } from './step-heading.js';

interface ChoosePasskeyProps {
  readonly passkeys: readonly StoredPasskey[];
  /** Called with `undefined` when the user chooses no passkey. */
  readonly onChosen: (passkey: StoredPasskey | undefined) => Promise<void>;
}

/** The last step of creating a key: selects a passkey that unlocks it, so that the phrase is only for recovery. */
export function ChoosePasskey({ passkeys, onChosen }: ChoosePasskeyProps) {
  const [problem, choose] = useSealingError(onChosen);
  return (
    <section class="prose">
      <StepHeading>3. Unlock with a passkey</StepHeading>
      <p>
        A passkey can unlock your key too, if its device and this browser support that. You then need the phrase only if
        you lose the passkey. You can add more passkeys later.
      </p>
      <FormError text={problem} />
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
