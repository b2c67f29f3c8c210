/** The callers of requests, and the operations that they may call. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError, type ErrorCode } from '@trellis/core/errors';

/** The authenticated origin of a request, as far as the server needs to know it. Applications have narrower types. */
export interface Caller {
  /** The kind that a security scheme of the contract authenticates. */
  readonly kind: string;
  /** Identifies the caller among those of its kind, in logs and rate limits; by default its token, or its person. */
  readonly id?: string;
  readonly tokenId?: string;
  readonly personId?: string;
  readonly isAdmin?: boolean;
  /** The roles of the caller. */
  readonly scopes?: readonly string[];
}

/** The caller of a security scheme for which the application has no type of its own. */
export interface CallerOf<Kind extends string> extends Caller {
  readonly kind: Kind;
  readonly id: string;
}

/** Returns the id of a caller for logs and rate limits. It never contains the session id, which is secret. */
export function toCallerId({ kind, id, tokenId, personId }: Caller): string {
  return `${kind}:${id ?? tokenId ?? personId ?? ''}`;
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

/** A security scheme of the contract, and the roles that its caller must have. */
export interface SecurityRequirement {
  readonly scheme: string;
  readonly roles: readonly string[];
}

/** One way to be authorized. */
export interface SecurityAlternative extends SecurityRequirement {
  /** The schemes that are required too. */
  readonly and?: readonly SecurityRequirement[];
}

/** The security requirements of an operation. */
export interface Admission {
  /** The alternatives, of which one has to match; empty if anyone may call the operation. */
  readonly security: readonly SecurityAlternative[];
  /** Whether callers without a valid credential are allowed too. */
  readonly isOptional?: true;
}

/** A security scheme of a contract. */
export interface SchemeSpec {
  /** The kind of its callers. */
  readonly caller: string;
  readonly type: 'apiKey' | 'http' | 'oauth2' | 'openIdConnect';
  /** The place and name of an API key. */
  readonly in?: 'cookie' | 'header' | 'query';
  readonly name?: string;
  /** The HTTP authentication scheme in lower case, such as `basic` or `bearer`. */
  readonly scheme?: string;
}

/** The security schemes of a contract, or only the kinds of their callers. */
export type Schemes = Readonly<Record<string, SchemeSpec | string>>;

/** Returns the kind of the callers of a security scheme. */
export function kindOf(schemes: Schemes, name: string): string | undefined {
  const scheme = schemes[name];
  return typeof scheme === 'object' ? scheme.caller : scheme;
}

/** Returns the schemes of an alternative. */
export function listSchemes(alternative: SecurityAlternative): readonly SecurityRequirement[] {
  return [alternative, ...(alternative.and ?? [])];
}

/** @throws Error if an operation refers to an unknown security scheme. */
export function assertKnownSchemes(
  operations: readonly (Admission & { readonly id: string })[],
  schemes: Schemes,
): void {
  for (const { id, security } of operations) {
    const unknown = security.flatMap(listSchemes).find(({ scheme }) => !Object.hasOwn(schemes, scheme));
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
  // A contract with alternatives of several schemes has a function for each scheme.
  const alternatives = security.flatMap(listSchemes);
  const fitting = alternatives.filter(({ scheme }) => kindOf(schemes, scheme) === caller.kind);
  if (fitting.length === 0) throw kindError(caller, alternatives, schemes);
  if (!fitting.some(({ roles }) => roles.every((role) => hasRole(caller, role)))) throw rolesError(fitting);
  return caller;
}

export function hasRole(caller: Caller, role: string): boolean {
  if (role === 'admin' && caller.isAdmin === true) return true;
  if (role === 'admin' && caller.kind === 'session') return false;
  // A session includes all scopes of API tokens.
  return caller.kind === 'session' || caller.scopes?.includes(role) === true;
}

function kindError(caller: Caller, security: readonly SecurityRequirement[], schemes: Schemes): AppError {
  const takesSessions = security.some(({ scheme }) => kindOf(schemes, scheme) === 'session');
  return caller.kind === 'token' && takesSessions
    ? new AppError('session_required', "This operation requires a session; tokens can't use it.")
    : new AppError('unauthenticated', 'This operation does not accept this kind of credential.');
}

export function rolesError(fitting: readonly SecurityRequirement[]): AppError {
  const wanted = fitting.map(({ roles }) => roles.join(' and ')).join(', or ');
  return new AppError('forbidden', `This operation requires the scope ${wanted}.`);
}
