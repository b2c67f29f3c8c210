import { useState } from 'preact/hooks';
import { explain } from '../answers.js';
import { say } from './toasts.js';

/** What keeps choices one after the other, of those made while one is being kept the newest alone; says why one can't be. */
export function useKeeper<Value>(keep: (value: Value) => Promise<void>): (value: Value) => void {
  const [choose] = useState(() => keepNewest(keep));
  return choose;
}

function keepNewest<Value>(keep: (value: Value) => Promise<void>): (value: Value) => void {
  const waiting: Value[] = [];
  let isBusy = false;
  return (value) => {
    waiting[0] = value;
    if (!isBusy) void work();
  };

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const [value] = waiting.splice(0) as [Value];
      await keep(value).catch((error: unknown) => say(explain(error), 'failed'));
    }
    isBusy = false;
  }
}
