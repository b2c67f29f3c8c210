/** The callers of requests, and the operations that they may call. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError, type ErrorCode } from '@trellis/core/errors';

/** The authenticated origin of a request, as far as the server needs to know it. Applications have wider types. */
export type Caller =
  | { readonly kind: 'session'; readonly personId: string; readonly isAdmin: boolean }
  | {
      readonly kind: 'consumer_token' | 'token';
      readonly tokenId: string;
      /** Whether the token has the role of an admin. */
      readonly isAdmin?: boolean;
      /** The roles of the token. */
      readonly scopes?: readonly string[];
    };

/** Returns the id of a caller for logs and rate limits. It never contains the session id, which is secret. */
export function toCallerId(caller: Caller): string {
  return caller.kind === 'session' ? `session:${caller.personId}` : `${caller.kind}:${caller.tokenId}`;
}

/** The parts of a request that contain its credential. */
export interface CredentialSource {
  readonly method?: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Identifies the caller of a request.
 *
 * @returns `undefined` if the request has no credential.
 * @throws AppError `unauthenticated` if its credential is invalid.
 */
export type Authenticate = (request: IncomingMessage) => Promise<Caller | undefined>;

/** One way to be authorized: a security scheme of the contract, and the roles that the caller must have. */
export interface SecurityAlternative {
  readonly scheme: string;
  readonly roles: readonly string[];
}

/** The security requirements of an operation. */
export interface Admission {
  /** The alternatives, of which one has to match; empty if anyone may call the operation. */
  readonly security: readonly SecurityAlternative[];
  /** Whether callers without a valid credential are allowed too. */
  readonly isOptional?: true;
}

/** The kind of caller for each security scheme of a contract. */
export type Schemes = Readonly<Record<string, Caller['kind']>>;

/** @throws Error if an operation refers to an unknown security scheme. */
export function assertKnownSchemes(
  operations: readonly (Admission & { readonly id: string })[],
  schemes: Schemes,
): void {
  for (const { id, security } of operations) {
    const unknown = security.find(({ scheme }) => !Object.hasOwn(schemes, scheme));
    if (unknown !== undefined) throw new Error(`Operation ${id}: unknown security scheme "${unknown.scheme}".`);
  }
}

/**
 * Authorizes a request for an operation as its contract requires.
 *
 * @returns the caller; `undefined` if anyone may call the operation, or if the credential is optional and missing or
 * invalid.
 * @throws AppError `unauthenticated`, `session_required` or `forbidden`, or any error of `find`.
 */
export async function authorize(
  operation: Admission,
  schemes: Schemes,
  find: () => Promise<Caller | undefined>,
): Promise<Caller | undefined> {
  if (operation.security.length === 0) return undefined;
  try {
    return await requireFitting(operation, schemes, find);
  } catch (error) {
    if (operation.isOptional && error instanceof AppError && NO_CREDENTIAL.includes(error.code)) return undefined;
    throw error;
  }
}

/** Errors that mean a missing or invalid credential. Others, such as a cross-site request, are never ignored. */
const NO_CREDENTIAL: readonly string[] = ['unauthenticated', 'session_required'] satisfies ErrorCode[];

async function requireFitting(
  { security }: Admission,
  schemes: Schemes,
  find: () => Promise<Caller | undefined>,
): Promise<Caller> {
  const caller = await find();
  if (caller === undefined)
    throw new AppError('unauthenticated', 'Authentication required: send a session cookie or a bearer token.');
  const fitting = security.filter(({ scheme }) => schemes[scheme] === caller.kind);
  if (fitting.length === 0) throw kindError(caller, security, schemes);
  if (!fitting.some(({ roles }) => roles.every((role) => hasRole(caller, role)))) throw rolesError(fitting);
  return caller;
}

function hasRole(caller: Caller, role: string): boolean {
  if (role === 'admin') return caller.isAdmin === true;
  // A session includes all scopes of API tokens.
  return caller.kind === 'session' || caller.scopes?.includes(role) === true;
}

function kindError(caller: Caller, security: readonly SecurityAlternative[], schemes: Schemes): AppError {
  const takesSessions = security.some(({ scheme }) => schemes[scheme] === 'session');
  return caller.kind === 'token' && takesSessions
    ? new AppError('session_required', "This operation requires a session; tokens can't use it.")
    : new AppError('unauthenticated', 'This operation does not accept this kind of credential.');
}

function rolesError(fitting: readonly SecurityAlternative[]): AppError {
  const wanted = fitting.map(({ roles }) => roles.join(' and ')).join(', or ');
  return new AppError('forbidden', `This operation requires the scope ${wanted}.`);
}
