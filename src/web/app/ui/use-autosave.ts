import { useState } from 'preact/hooks';
import { toUserMessage } from '../api-errors.js';
import { saveLatest } from './save-latest.js';
import { showToast } from './toasts.js';

/** Returns a function that saves values one at a time, as `keepNewest` does, and shows errors as toasts. */
export function useAutosave<Value>(save: (value: Value) => Promise<void>): (value: Value) => void {
  const [saveNewest] = useState(() =>
    saveLatest((value: Value) => save(value).catch((error: unknown) => showToast(toUserMessage(error), 'failed'))),
  );
  return saveNewest;
}
