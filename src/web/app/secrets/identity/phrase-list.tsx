import { CopyButton } from '../../ui/copy-button.js';
import { StepHeading } from './step-heading.js';

interface PhraseListProps {
  readonly words: readonly string[];
  readonly onNext: () => void;
}

/** Shows the new recovery phrase. The printed page contains only the phrase and its purpose. */
export function PhraseList({ words, onNext }: PhraseListProps) {
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
