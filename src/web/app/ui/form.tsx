import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Problem, toProblem } from '../api.js';
import { useAction, useFocusHandover } from './buttons.js';
import { ProblemText } from './problem-text.js';

interface FormProps {
  readonly onSave: () => Promise<void>;
  /** The label of the submit button. */
  readonly verb: string;
  /** Further buttons beside it. */
  readonly beside?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Fields and a submit button. The browser reports missing or invalid values. */
export function Form({ onSave, verb, beside, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, save] = useAction(onSave);
  useFocusHandover(form);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {children}
      <div class="acts">
        <button type="submit" class="main" aria-busy={isBusy}>
          {verb}
        </button>
        {beside}
      </div>
    </form>
  );
}

/** The error of a form, shown beside it. */
export function FormError({ problem }: { readonly problem: Problem | undefined }) {
  // Screen readers announce only changes of a region that already exists.
  return (
    <div role="alert" class="problem">
      {problem !== undefined && (
        <p>
          <ProblemText problem={problem} />
        </p>
      )}
    </div>
  );
}

/** Returns the error of the last run, and a function that runs `work`, clears the error and never rejects. */
export function useFormError<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
  convert: (error: unknown) => Problem = toProblem,
): readonly [Problem | undefined, (...args: Args) => Promise<void>] {
  const [problem, setProblem] = useState<Problem>();
  const run = async (...args: Args): Promise<void> => {
    setProblem(undefined);
    await work(...args).catch((error: unknown) => setProblem(convert(error)));
  };
  return [problem, run];
}
