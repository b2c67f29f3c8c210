import { GraphQLError } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';
import { AppError } from '../core/errors.js';
import type { ErrorCode } from '../core/errors.js';

/** Logs an internal error, whose details the caller does not see. */
export type ReportError = (error: unknown) => void;

/**
 * Converts an error for the response. Errors in the request keep their message; internal errors are reported to the
 * log and shown as `internal`.
 */
export function toPublicError(error: unknown, requestId: string, report: ReportError): GraphQLFormattedError {
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
  return show('Internal error in this part of the query. Quote the request id when you report it.', 'internal');
}

/** Messages quote the request, such as the value of a variable, which may have a megabyte. */
const MAX_MESSAGE = 1000;

const shorten = (message: string): string =>
  message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 200)} … ${message.slice(-200)}`;

/**
 * Returns whether graphql-js rejected the document or the variables. Such an error either has no path, because no
 * resolver ran, or it refers to the node of an argument. Errors of result serialization refer to no node.
 */
function isAboutRequest({ path, originalError }: GraphQLError): boolean {
  return path === undefined || (originalError instanceof GraphQLError && originalError.nodes !== undefined);
}
