import { useFormError } from '../ui/form-error.js';
import { toSealingMessage } from './sealing-message.js';

/** Like {@link useFormError}, with messages for errors of sealing, opening and storing values. */
export const useSealingError = <Args extends readonly unknown[]>(work: (...args: Args) => Promise<void>) =>
  useFormError(work, toSealingMessage);
