import type { IncomingMessage } from 'node:http';
import type { Caller } from '../accounts/callers.js';
import { AppError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import type { OperationSpec, SecurityAlternative } from './operation.js';

/**
 * Finds who sent a request.
 *
 * @returns `undefined` when it carries no credential.
 * @throws AppError `unauthenticated` when it carries one that does not hold.
 */
export type Authenticate = (request: IncomingMessage) => Promise<Caller | undefined>;

/** The callers that may use an operation. */
type Admission = Pick<OperationSpec, 'isOptional' | 'security'>;

/** The kind of caller that each security scheme of a contract lets in. */
export type Schemes = Readonly<Record<string, Caller['kind']>>;

/** @throws Error when an operation names a scheme that nobody knows how to check. */
export function requireKnownSchemes(operations: readonly OperationSpec[], schemes: Schemes): void {
  for (const { id, security } of operations) {
    const unknown = security.find(({ scheme }) => !Object.hasOwn(schemes, scheme));
    if (unknown !== undefined) throw new Error(`Operation ${id}: the security scheme "${unknown.scheme}" is unknown.`);
  }
}

/**
 * Lets a request through to an operation, as its contract says.
 *
 * @returns the caller; `undefined` where anyone may call, whatever credential
 * came, and where a credential is optional and none came that holds.
 */
export async function admit(
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

/** As good as none where one is optional; a forged request, or a database that is away, is something else. */
const NO_CREDENTIAL: readonly string[] = ['unauthenticated', 'session_required'] satisfies ErrorCode[];

async function requireFitting(
  { security }: Admission,
  schemes: Schemes,
  find: () => Promise<Caller | undefined>,
): Promise<Caller> {
  const caller = await find();
  if (caller === undefined) throw new AppError('unauthenticated', 'Expected a session or a token; none came.');
  const fitting = security.filter(({ scheme }) => schemes[scheme] === caller.kind);
  if (fitting.length === 0) throw refuseKind(caller, security, schemes);
  if (!fitting.some(({ roles }) => roles.every((role) => hasRole(caller, role)))) throw refuseRoles(fitting);
  return caller;
}

function hasRole(caller: Caller, role: string): boolean {
  if (caller.kind === 'consumer_token') return false;
  if (role === 'admin') return caller.isAdmin;
  // A person who is there may do whatever their scripts may.
  return caller.kind === 'session' || caller.scopes.some((scope) => scope === role);
}

function refuseKind(caller: Caller, security: readonly SecurityAlternative[], schemes: Schemes): AppError {
  const takesSessions = security.some(({ scheme }) => schemes[scheme] === 'session');
  return caller.kind === 'token' && takesSessions
    ? new AppError('session_required', 'Expected a session; a token may not do this.')
    : new AppError('unauthenticated', 'Expected another kind of credential for this operation.');
}

function refuseRoles(fitting: readonly SecurityAlternative[]): AppError {
  const wanted = fitting.map(({ roles }) => roles.join(' and ')).join(', or ');
  return new AppError('forbidden', `Expected a credential that holds: ${wanted}.`);
}
