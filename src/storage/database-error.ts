import { AppError } from '../core/errors.js';

/** A failure to use the database that an operator can fix. The message contains no part of the database URL. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** The messages for PostgreSQL error codes. */
const REASONS: Readonly<Record<string, string>> = {
  '28000': 'the PostgreSQL server rejected the user',
  '28P01': 'the PostgreSQL server rejected the password',
  '3D000': 'the database does not exist',
  '42501': 'the user is not allowed to create tables',
  '53300': 'the PostgreSQL server has no free connections',
  '57P03': 'the PostgreSQL server is starting up or shutting down',
};

/** Converts errors that an operator can fix to a {@link DatabaseError}. Returns other errors unchanged. */
export function toDatabaseError(error: unknown): unknown {
  const { code, message } = causeOf(error) as { readonly code?: unknown; readonly message?: unknown };
  const reason = REASONS[String(code)];
  if (reason !== undefined) return new DatabaseError(reason, { cause: error });
  if (!isUnavailable(error)) return error;
  return new DatabaseError(`the PostgreSQL server can't be reached: ${String(code ?? message)}`, { cause: error });
}

/** Returns whether the error means that no connection was available, which the pool wraps in an AppError. */
const isUnavailable = (error: unknown): error is AppError => error instanceof AppError && error.code === 'unavailable';

const causeOf = (error: unknown): unknown => (isUnavailable(error) ? error.cause : error) ?? {};
