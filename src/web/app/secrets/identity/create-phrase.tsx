import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../../ui/buttons.js';
import { Field, Form, FormError } from '../../ui/form.js';
import { useSealingError } from '../sealing-message.js';

interface MakePhraseProps {
  /** Called with the words, separated by single spaces, once the user has confirmed them. */
  readonly onPhrase: (phrase: string) => Promise<void>;
}

/** Generates a recovery phrase, shows it, and checks that the user has written it down. */
export function CreatePhrase({ onPhrase }: MakePhraseProps) {
  const [words, setWords] = useState<readonly string[]>();
  const [isConfirming, setConfirming] = useState(false);
  useEffect(() => void import('./phrase.js').then(({ generatePhrase }) => setWords(generatePhrase())), []);
  if (words === undefined) return null;
  if (!isConfirming) return <PhraseList words={words} onNext={() => setConfirming(true)} />;
  return <ConfirmPhrase words={words} onBack={() => setConfirming(false)} onNext={() => onPhrase(words.join(' '))} />;
}

interface PhraseListProps {
  readonly words: readonly string[];
  readonly onNext: () => void;
}

/** Shows the new recovery phrase. The printed page contains only the phrase and its purpose. */
function PhraseList({ words, onNext }: PhraseListProps) {
  return (
    <section class="prose">
      <StepHeading>1. Write down your recovery phrase</StepHeading>
      <p>
        Write down these 24 words in this order. They won’t be shown again, and no one can recover them for you. Keep
        the paper in a safe place.
      </p>
      <ol class="phrase" aria-label="Recovery phrase">
        {words.map((word, index) => (
          <li key={index}>{word}</li>
        ))}
      </ol>
      <p class="print-only">Recovery phrase for the secrets at {location.origin}. Anyone who has it can read them.</p>
      <div class="row wrapping">
        <CopyButton value={words.join(' ')} what="the phrase" />
        <button type="button" onClick={() => print()}>
          Print
        </button>
        <button type="button" class="main" onClick={onNext}>
          I have written it down
        </button>
      </div>
      <p class="quiet">Other programs can read copied text. Save the phrase in a password manager, not in a note.</p>
    </section>
  );
}

interface PhraseQuestionProps {
  readonly words: readonly string[];
  readonly onBack: () => void;
  readonly onNext: () => Promise<void>;
}

/** Asks for two of the words, to check that the user has written the phrase down. */
function ConfirmPhrase({ words, onBack, onNext }: PhraseQuestionProps) {
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
        <FormError problem={problem} />
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

/** A heading that takes the focus when its step begins, so that screen readers announce the step. */
export function StepHeading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <h2 ref={heading} tabIndex={-1} class="step">
      {children}
    </h2>
  );
}
