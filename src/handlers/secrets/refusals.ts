import type { ErrorCode } from '../../errors.js';

/** Words that clients of this service compare. */
export const REFUSALS: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthenticated: 'missing or invalid session',
  malformed_body: 'malformed request body',
};
