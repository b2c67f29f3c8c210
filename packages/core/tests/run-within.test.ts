import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { runWithin } from '../src/concurrency.js';

const waitForAbort = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason as unknown;
};

describe('runWithin', () => {
  const never = new AbortController().signal;

  test('aborts the signal after the time, also after a garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const reason = runWithin(50, never, waitForAbort);
    // The signals of a function that has returned are garbage only in a later turn of the event loop.
    await new Promise(setImmediate);
    collectGarbage();
    expect(await reason).toMatchObject({ name: 'TimeoutError', message: 'It took more than 50 ms.' });
  });

  test('aborts with the other signal', async () => {
    const other = new AbortController();
    const reason = runWithin(60_000, other.signal, waitForAbort);
    other.abort('closed');
    expect(await reason).toBe('closed');
    expect(await runWithin(60_000, other.signal, waitForAbort)).toBe('closed');
  });

  test('returns the result, and passes on an error', async () => {
    expect(await runWithin(60_000, never, async ({ aborted }) => ({ aborted }))).toEqual({ aborted: false });
    await expect(runWithin(60_000, never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
