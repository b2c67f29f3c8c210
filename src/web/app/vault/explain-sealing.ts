import { SealingError } from '../../../sealing/sealing-error.js';
import type { SealingCode } from '../../../sealing/sealing-error.js';
import { ApiError } from '../../../generated/secrets/client.js';
import { explain } from '../answers.js';

/** Why a value could not be sealed, opened or stored, for whoever is before the page. */
export function explainSealing(error: unknown): string {
  if (error instanceof SealingError) return WORDS[error.code] ?? error.message;
  if (error instanceof ApiError && error.code === 'conflict') return CONFLICTS[error.field ?? ''] ?? explain(error);
  if (error instanceof ApiError && error.code === 'precondition_failed') return REPLACED;
  return explain(error);
}

const REPLACED =
  'Somebody else has replaced this value meanwhile, so nothing was changed. Load the page again to see what it is now.';

/** Those of keys name whose key is missing, which says more. */
const WORDS: Partial<Record<SealingCode, string>> = {
  too_large: 'A value is 1 MiB at most once it is sealed; this one is larger.',
  no_match:
    'This value isn’t sealed to you: only the identities of its consumers open it. Replace it with a copy that you can read, to open it here.',
  key_changed: 'A public key has changed and was not accepted, so nothing was encrypted.',
  not_sealed: 'What is stored is no age file that is whole.',
};

/** By the field that is at odds with what is there. */
const CONFLICTS: Readonly<Record<string, string>> = {
  slug: 'There is a secret of this name already. Two share a name only if each has consumers of its own.',
  used_by: 'Another variant of this name is for one of these consumers already.',
};
