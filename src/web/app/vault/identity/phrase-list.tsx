import { CopyButton } from '../../shell/copy-button.js';
import { StepHeading } from './step-heading.js';

interface PhraseListProps {
  readonly words: readonly string[];
  readonly onNext: () => void;
}

/** The recovery phrase, the one time that it is shown. On paper there is nothing but it. */
export function PhraseList({ words, onNext }: PhraseListProps) {
  return (
    <section class="prose">
      <StepHeading>1. Write down the recovery phrase</StepHeading>
      <p>
        These 24 words, in this order. They are not shown again, and nobody can tell you them later. Keep the paper
        where you keep what matters.
      </p>
      <ol class="phrase" aria-label="Recovery phrase">
        {words.map((word, index) => (
          <li key={index}>{word}</li>
        ))}
      </ol>
      <p class="print-only">
        Recovery phrase of the owner of the secrets at {location.origin}. Whoever has it can read them.
      </p>
      <div class="row wrapping">
        <CopyButton value={words.join(' ')} what="the phrase" />
        <button type="button" onClick={() => print()}>
          Print
        </button>
        <button type="button" class="main" onClick={onNext}>
          I have written it down
        </button>
      </div>
      <p class="quiet">
        Other programs can read what you copy. A password manager is a good place for it, a note is none.
      </p>
    </section>
  );
}
