import { useState } from 'preact/hooks';
import { explain } from '../answers.js';

/** What went wrong with a form, where it is looked for: beside it. */
export function Problem({ text }: { readonly text: string | undefined }) {
  // The region is there before its words are, as screen readers need it.
  return (
    <div role="alert" class="problem">
      {text !== undefined && <p>{text}</p>}
    </div>
  );
}

/** Work that tells why it failed in place of failing; the problem of the last time goes when it is tried again. */
export function useProblem<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
  toWords: (error: unknown) => string = explain,
): readonly [string | undefined, (...args: Args) => Promise<void>] {
  const [problem, setProblem] = useState<string>();
  const run = async (...args: Args): Promise<void> => {
    setProblem(undefined);
    await work(...args).catch((error: unknown) => setProblem(toWords(error)));
  };
  return [problem, run];
}
