import { errorCode } from './unreadable.js';

/** How often and how long to wait for a descriptor, five seconds in all, before giving up. */
const ATTEMPTS = 100;
const WAIT_MS = 50;

/**
 * Runs a synchronous read of the file system again while the process or the
 * machine has too many files open, which passes when others close theirs.
 */
export function whenDescriptorsAllow<T>(read: () => T): T {
  for (let count = 1; ; count += 1) {
    try {
      return read();
    } catch (error) {
      const code = errorCode(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || count === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
