import { getErrorCode } from './unreadable.js';

/** The number of attempts and the wait between them, five seconds in total. */
const ATTEMPTS = 100;
const WAIT_MS = 50;

/**
 * Runs a synchronous file system call, and retries it while the process or the machine has too many open files.
 */
export function retryOnEmfile<T>(read: () => T): T {
  for (let count = 1; ; count += 1) {
    try {
      return read();
    } catch (error) {
      const code = getErrorCode(error);
      if ((code !== 'EMFILE' && code !== 'ENFILE') || count === ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
