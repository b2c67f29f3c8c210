/**
 * Where nobody listens: below the ports that servers of tests are given, one of
 * which could be another's a moment after it was free, and not among those that
 * fetch refuses by itself, such as 1 and 9.
 */
export const CLOSED_PORT = 'http://127.0.0.1:2';
