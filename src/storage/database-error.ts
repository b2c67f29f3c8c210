import { AppError } from '../errors.js';

/** The database can't be used, for a reason that a person can mend. Nothing of its address is in the message. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** What PostgreSQL and the network say, and what a person is told to look for. */
const REASONS: Readonly<Record<string, string>> = {
  '28000': 'expected a user whom the server lets in; it refused this one',
  '28P01': 'expected the password of the user; the server refused this one',
  '3D000': 'expected a database that exists; the server has none of this name',
  '42501': 'expected a user who may make tables; this one may not',
  '53300': 'expected a server with connections to spare; all of its connections are taken',
  '57P03': 'expected a server that is ready; it is starting up or shutting down',
};

/** @returns a {@link DatabaseError} for what a person can mend, and anything else as it is. */
export function toDatabaseError(error: unknown): unknown {
  const { code, message } = causeOf(error) as { readonly code?: unknown; readonly message?: unknown };
  const reason = REASONS[String(code)];
  if (reason !== undefined) return new DatabaseError(reason, { cause: error });
  if (!isUnavailable(error)) return error;
  const what = String(code ?? message);
  return new DatabaseError(`expected a PostgreSQL server that can be reached; ${what}`, { cause: error });
}

/** What fails for want of a connection is wrapped by the pool. */
const isUnavailable = (error: unknown): error is AppError => error instanceof AppError && error.code === 'unavailable';

const causeOf = (error: unknown): unknown => (isUnavailable(error) ? error.cause : error) ?? {};
