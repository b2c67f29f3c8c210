import { type SealingCode, SealingError } from '../../../sealing/sealing-error.js';
import { type Problem, toProblem } from '../api.js';
import { useFormError } from '../ui/form.js';

/** Like {@link useFormError}, with messages for errors of sealing, opening and storing values. */
export const useSealingError = <Args extends readonly unknown[]>(work: (...args: Args) => Promise<void>) =>
  useFormError(work, toSealingProblem);

/** Returns the error that a page shows when a value could not be sealed, opened or stored. */
export function toSealingProblem(error: unknown): Problem {
  const problem = toProblem(error);
  const message = error instanceof SealingError ? MESSAGES[error.code] : findStorageMessage(problem);
  return message === undefined ? problem : { ...problem, message };
}

function findStorageMessage({ code, field = '' }: Problem): string | undefined {
  if (code === 'conflict') return CONFLICTS[field];
  return code === 'precondition_failed' ? CHANGED : undefined;
}

const CHANGED =
  'This secret was changed in the meantime, so your change was not saved. Reload the page to see the current value.';

/** The other codes show the message of the error, which names the parties whose key is missing. */
const MESSAGES: Partial<Record<SealingCode, string>> = {
  too_large: 'Encrypted values can be at most 1 MiB; this one is larger.',
  no_match:
    'This value isn’t encrypted to the key that you used. To read it with your key, replace it and include your key.',
  key_changed: 'A public key has changed and was not accepted, so nothing was encrypted.',
  not_sealed: 'The stored value is not a valid age file.',
};

/** Messages by the field of the request that causes the conflict. */
const CONFLICTS: Readonly<Record<string, string>> = {
  slug: 'A secret with this name already exists. Secrets can share a name only if each has its own consumers.',
  used_by: 'Another variant of this secret already belongs to one of these consumers.',
};
