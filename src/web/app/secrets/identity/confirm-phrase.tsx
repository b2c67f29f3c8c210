import { useState } from 'preact/hooks';
import { Field } from '../../ui/field.js';
import { Form } from '../../ui/form.js';
import { FormError } from '../../ui/form-error.js';
import { useSealingError } from '../use-sealing-error.js';
import { StepHeading } from './step-heading.js';

interface PhraseQuestionProps {
  readonly words: readonly string[];
  readonly onBack: () => void;
  readonly onNext: () => Promise<void>;
}

/** Asks for two of the words, to check that the user has written the phrase down. */
export function ConfirmPhrase({ words, onBack, onNext }: PhraseQuestionProps) {
  const [indices] = useState(() => pickTwo(words.length));
  const [inputs, setInputs] = useState<readonly string[]>(['', '']);
  const [problem, check] = useSealingError(async () => {
    const wrong = indices.filter((at, index) => inputs[index]?.trim().toLowerCase() !== words[at]);
    if (wrong.length > 0) throw new Error(describe(wrong));
    await onNext();
  });
  return (
    <section class="prose">
      <StepHeading>2. Confirm your recovery phrase</StepHeading>
      <p>Enter these two words from your paper.</p>
      <Form verb="Continue" onSave={check}>
        {indices.map((at, index) => (
          <Field
            key={at}
            label={`Word ${at + 1}`}
            required
            maxLength={20}
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={inputs[index] ?? ''}
            onValue={(word) => setInputs(inputs.with(index, word))}
          />
        ))}
        <FormError text={problem} />
      </Form>
      <p>
        <button type="button" onClick={onBack}>
          Show the words again
        </button>
      </p>
    </section>
  );
}

function describe(wrong: readonly number[]): string {
  const numbers = wrong.map((at) => at + 1).join(' and ');
  return wrong.length === 1
    ? `Word ${numbers} doesn’t match your phrase.`
    : `Words ${numbers} don’t match your phrase.`;
}

/** Picks two indices in ascending order. The check only guards against forgetting, so `Math.random` is enough. */
function pickTwo(count: number): readonly number[] {
  const first = Math.floor(Math.random() * count);
  const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count;
  return [first, second].sort((a, b) => a - b);
}
