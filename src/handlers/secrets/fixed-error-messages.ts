import type { ErrorCode } from '../../core/errors.js';

/** Messages that are fixed by the wire contract: clients compare them. */
export const FIXED_ERROR_MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthenticated: 'missing or invalid session',
  malformed_body: 'malformed request body',
};
