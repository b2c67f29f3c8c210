import { useState } from 'preact/hooks';
import { Field } from '../../shell/field.js';
import { Form } from '../../shell/form.js';
import { Problem } from '../../shell/problem.js';
import { useSealingProblem } from '../use-sealing-problem.js';
import { StepHeading } from './step-heading.js';

interface PhraseQuestionProps {
  readonly words: readonly string[];
  readonly onBack: () => void;
  readonly onNext: () => Promise<void>;
}

/** Asks for two of the words: who can't tell them has not written the phrase down. */
export function PhraseQuestion({ words, onBack, onNext }: PhraseQuestionProps) {
  const [asked] = useState(() => pickTwo(words.length));
  const [answers, setAnswers] = useState<readonly string[]>(['', '']);
  const [problem, check] = useSealingProblem(async () => {
    const wrong = asked.filter((at, index) => answers[index]?.trim().toLowerCase() !== words[at]);
    if (wrong.length > 0) throw new Error(describe(wrong));
    await onNext();
  });
  return (
    <section class="prose">
      <StepHeading>2. Look at what you wrote</StepHeading>
      <p>Two of the words, so that you know that they are on your paper.</p>
      <Form verb="Go on" onSave={check}>
        {asked.map((at, index) => (
          <Field
            key={at}
            label={`Word ${at + 1}`}
            required
            maxLength={20}
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={answers[index] ?? ''}
            onValue={(word) => setAnswers(answers.with(index, word))}
          />
        ))}
        <Problem text={problem} />
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
  const which = wrong.map((at) => at + 1).join(' and ');
  return `${wrong.length === 1 ? 'Word' : 'Words'} ${which}: your phrase has another there.`;
}

/** Two places, the lower first. They guard against forgetting alone, so plain chance will do. */
function pickTwo(count: number): readonly number[] {
  const first = Math.floor(Math.random() * count);
  const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count;
  return [first, second].sort((a, b) => a - b);
}
