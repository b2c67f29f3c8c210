import { SealingError } from '../../../sealing/sealing-error.js';
import type { SealingCode } from '../../../sealing/sealing-error.js';
import { explain } from '../answers.js';

/** Why a value could not be sealed, opened or stored, for whoever is before the page. */
export function explainSealing(error: unknown): string {
  return (error instanceof SealingError ? WORDS[error.code] : undefined) ?? explain(error);
}

/** Those of keys name whose key is missing, which says more. */
const WORDS: Partial<Record<SealingCode, string>> = {
  too_large: 'A value is 1 MiB at most once it is sealed; this one is larger.',
  no_match:
    'This value isn’t sealed to you: only the identities of its consumers open it. Replace it with a copy that you can read, to open it here.',
  not_sealed: 'What is stored is no age file that is whole.',
};
