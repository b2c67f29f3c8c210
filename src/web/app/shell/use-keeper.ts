import { useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { keepNewest } from './keep-newest.js';
import { say } from './toasts.js';

/** What keeps the newest of what is chosen, and says why it can't be. */
export function useKeeper<Value>(keep: (value: Value) => Promise<void>): (value: Value) => void {
  const [choose] = useState(() =>
    keepNewest((value: Value) => keep(value).catch((error: unknown) => say(explain(error), 'failed'))),
  );
  return choose;
}
