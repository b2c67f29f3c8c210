import { GraphQLError } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';
import { AppError } from '../errors.js';
import type { ErrorCode } from '../errors.js';

/** Told of every error that is the server's own; nobody else sees what it was. */
export type Report = (defect: unknown) => void;

/**
 * An error as the caller may see it. What the caller asked wrongly keeps its
 * message; a defect is reported, and shown as `internal`.
 */
export function toPublicError(error: unknown, requestId: string, report: Report): GraphQLFormattedError {
  const located = error instanceof GraphQLError ? error : undefined;
  const cause = located?.originalError ?? error;
  const show = (message: string, code: ErrorCode, field?: string): GraphQLFormattedError => ({
    message: shorten(message),
    ...(located?.locations && { locations: located.locations }),
    ...(located?.path && { path: located.path }),
    extensions: { code, ...(field !== undefined && { field }), requestId },
  });
  if (cause instanceof AppError) return show(cause.message, cause.code, cause.field);
  if (located && isAboutRequest(located)) return show(located.message, 'invalid_input');
  report(error);
  return show('The server failed to answer this part of the query.', 'internal');
}

/** Errors repeat what the caller sent, such as a value of a variable, which may be a megabyte. */
const MAX_MESSAGE = 1000;

const shorten = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 200)} … ${message.slice(-200)}`;

/**
 * Whether graphql-js found fault with the document or the variables: before it
 * ran any resolver, so that the error has no path, or with an argument, which it
 * points at. A result that an enum or a scalar can't write points at nothing.
 */
function isAboutRequest({ path, originalError }: GraphQLError): boolean {
  return path === undefined || (originalError instanceof GraphQLError && originalError.nodes !== undefined);
}
