import { useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { keepNewest } from './keep-newest.js';
import { say } from './toasts.js';

/** Returns a function that saves values one at a time, as `keepNewest` does, and shows errors as toasts. */
export function useKeeper<Value>(save: (value: Value) => Promise<void>): (value: Value) => void {
  const [saveNewest] = useState(() =>
    keepNewest((value: Value) => save(value).catch((error: unknown) => say(explain(error), 'failed'))),
  );
  return saveNewest;
}
