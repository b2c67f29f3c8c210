/*
 * Checked by the compiler only: the error codes of the server are those of every contract.
 */
import type { ErrorCode } from '@trellis/core/errors';
import type { components as dashboard } from '../../src/generated/dashboard/types.js';
import type { components as secrets } from '../../src/generated/secrets/types.js';

type Codes<Components extends { readonly schemas: { readonly ErrorCode: string } }> =
  Components['schemas']['ErrorCode'];

export const toDashboardCode = (code: ErrorCode): Codes<dashboard> => code;
export const fromDashboardCode = (code: Codes<dashboard>): ErrorCode => code;
export const toSecretsCode = (code: ErrorCode): Codes<secrets> => code;
export const fromSecretsCode = (code: Codes<secrets>): ErrorCode => code;
