/** Credentials of requests, where the security schemes of a contract say they are. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '@trellis/core/errors';
import { parseCookies, parseQuery, parseTarget, tryDecode } from './request.js';
import {
  type Admission,
  type Caller,
  hasRole,
  listSchemes,
  rolesError,
  type Schemes,
  type SchemeSpec,
  type SecurityRequirement,
} from './security.js';

/** A user name and password of HTTP basic authentication (RFC 7617). */
export interface BasicCredential {
  readonly username: string;
  readonly password: string;
}

/**
 * Identifies the caller by a credential.
 *
 * @returns `undefined` for an invalid credential.
 * @throws AppError `unauthenticated` for an invalid credential too, with a message of its own.
 */
type Authenticator<Credential> = (
  credential: Credential,
  request: IncomingMessage,
) => Promise<IdentifiedCaller | undefined>;

/** A caller whose kind follows from the security scheme. */
export type IdentifiedCaller = Omit<Caller, 'kind'> & { readonly kind?: string };

/** A function for each security scheme, which receives its credential: a text, or a user name and password. */
export type Authenticators<Known extends Readonly<Record<string, SchemeSpec>>> = {
  readonly [Name in keyof Known]: Authenticator<Known[Name] extends { scheme: 'basic' } ? BasicCredential : string>;
};

/** The functions of any contract. */
export type AnyAuthenticators = Readonly<Record<string, Authenticator<never>>>;

/** The callers of the schemes of an alternative. */
export interface Callers {
  /** The caller of the first scheme. */
  readonly caller: Caller;
  /** All callers by their scheme, if there are several. */
  readonly callers?: Readonly<Record<string, Caller>>;
}

interface Sender {
  readonly request: IncomingMessage;
  readonly schemes: Schemes;
  readonly authenticators: AnyAuthenticators;
  /** The protection space of the challenges (RFC 9110, 11.5). */
  readonly realm: string;
  /** Limits the failed credentials of the sender. */
  readonly lookUp: (credential: string, find: () => Promise<Caller | undefined>) => Promise<Caller | undefined>;
}

/**
 * Authorizes a request by the first alternative whose schemes all have a valid credential and the required roles.
 *
 * @returns `undefined` if anyone may call the operation, or if the credential is optional and missing or invalid.
 * @throws AppError `unauthenticated` or `forbidden` with the challenges of RFC 9110, or any error of a function.
 */
export async function authorizeBySchemes(operation: Admission, sender: Sender): Promise<Callers | undefined> {
  const { security, isOptional } = operation;
  if (security.length === 0) return undefined;
  const lookUp = createLookUp(sender);
  const refused: SecurityRequirement[] = [];
  let invalid: AppError | undefined;
  for (const alternative of security.map(listSchemes)) {
    const found = await Promise.all(alternative.map(({ scheme }) => lookUp(scheme)));
    invalid ??= found.find((result) => result instanceof AppError);
    const callers = found.flatMap((result) => (result === undefined || result instanceof AppError ? [] : [result]));
    if (callers.length < alternative.length) continue;
    const lacking = alternative.filter(({ roles }, index) => !hasRoles(callers[index], roles));
    if (lacking.length === 0) return toCallers(alternative, callers);
    refused.push(...lacking);
  }
  if (refused.length > 0) throw toForbidden(refused, sender);
  if (isOptional) return undefined;
  throw toUnauthenticated(security.flatMap(listSchemes), invalid, sender);
}

function hasRoles(caller: Caller | undefined, roles: readonly string[]): boolean {
  return caller !== undefined && roles.every((role) => hasRole(caller, role));
}

function toCallers(alternative: readonly SecurityRequirement[], found: readonly Caller[]): Callers | undefined {
  const [caller] = found;
  if (caller === undefined) return undefined;
  if (found.length === 1) return { caller };
  return {
    caller,
    callers: Object.fromEntries(alternative.map(({ scheme }, index) => [scheme, found[index] ?? caller])),
  };
}

type LookUp = (scheme: string) => Promise<AppError | Caller | undefined>;

/** Returns a function that looks up the caller of a scheme once, and returns `undefined` for a missing credential. */
function createLookUp({ request, schemes, authenticators, lookUp }: Sender): LookUp {
  const known = new Map<string, Promise<AppError | Caller | undefined>>();
  const find = async (name: string): Promise<AppError | Caller | undefined> => {
    const [scheme, authenticate] = [schemes[name], authenticators[name]];
    if (typeof scheme !== 'object' || authenticate === undefined)
      throw new Error(`No function for the scheme "${name}".`);
    const text = findCredential(request, scheme);
    if (text === undefined) return undefined;
    const credential = scheme.scheme === 'basic' ? parseBasic(text) : text;
    try {
      return await lookUp(`${name} ${text}`, async () => {
        // The table and the functions are generated from the same schemes.
        const caller = credential === undefined ? undefined : await authenticate(credential as never, request);
        if (caller === undefined)
          throw new AppError('unauthenticated', 'The credential is invalid, expired or revoked.');
        return { ...caller, kind: scheme.caller };
      });
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') return error;
      throw error;
    }
  };
  return async (name) => {
    const found = known.get(name) ?? find(name);
    known.set(name, found);
    return found;
  };
}

/** Returns the credential as text; `undefined` without one. */
function findCredential(
  request: IncomingMessage,
  { type, in: place, name = '', scheme }: SchemeSpec,
): string | undefined {
  const { headers, headersDistinct, url = '' } = request;
  if (type !== 'apiKey') {
    const [, method = '', text = ''] = /^(\S+) +(\S.*)$/.exec(headers.authorization?.trimEnd() ?? '') ?? [];
    const isKnown = method.toLowerCase() === (scheme ?? 'bearer');
    // Schemes that the server does not know may have several parts (RFC 9110, 11.4).
    return isKnown && (isCustom(scheme) || !text.includes(' ')) ? text : undefined;
  }
  const texts =
    place === 'query'
      ? parseQuery(parseTarget(url).query).get(name)
      : place === 'cookie'
        ? parseCookies(headers.cookie ?? '')
            .get(name)
            ?.map((text) => tryDecode(text) ?? text)
        : headersDistinct[name.toLowerCase()];
  const [text] = texts ?? [];
  return text === '' ? undefined : text;
}

function parseBasic(text: string): BasicCredential | undefined {
  const decoded = Buffer.from(text, 'base64').toString();
  const at = decoded.indexOf(':');
  return at === -1 ? undefined : { username: decoded.slice(0, at), password: decoded.slice(at + 1) };
}

function toUnauthenticated(
  alternatives: readonly SecurityRequirement[],
  invalid: AppError | undefined,
  sender: Sender,
): AppError {
  // RFC 6750, 3.1: without a credential, the challenge has no error code.
  const challenges = toChallenges(alternatives, sender, invalid === undefined ? '' : ', error="invalid_token"');
  const message = invalid?.message ?? 'Authentication required.';
  return new AppError('unauthenticated', message, { headers: { 'WWW-Authenticate': challenges }, cause: invalid });
}

function toForbidden(refused: readonly SecurityRequirement[], sender: Sender): AppError {
  const error = rolesError(refused);
  const bearers = refused.filter(({ scheme }) => isBearer(sender.schemes[scheme]));
  if (bearers.length === 0) return error;
  const scope = [...new Set(bearers.flatMap(({ roles }) => roles))].join(' ');
  const challenge = toChallenges(bearers, sender, `, error="insufficient_scope", scope="${scope}"`);
  return new AppError('forbidden', error.message, { headers: { 'WWW-Authenticate': challenge } });
}

function isBearer(scheme: SchemeSpec | string | undefined): boolean {
  return typeof scheme === 'object' && scheme.type !== 'apiKey' && (scheme.scheme ?? 'bearer') === 'bearer';
}

/** Returns whether only the application knows an HTTP authentication scheme. */
const isCustom = (scheme = 'bearer'): boolean => !['basic', 'bearer'].includes(scheme);

/** Lists the challenges of the schemes. API keys have no registered scheme, so theirs says where the key is expected. */
function toChallenges(
  alternatives: readonly SecurityRequirement[],
  { schemes, realm }: Sender,
  bearerError: string,
): string {
  const challenges = alternatives.map(({ scheme }) => {
    const spec = schemes[scheme];
    if (typeof spec !== 'object') return `Bearer realm="${realm}"`;
    if (spec.type === 'apiKey') return `ApiKey realm="${realm}", in="${spec.in ?? ''}", name="${spec.name ?? ''}"`;
    if (spec.scheme === 'basic') return `Basic realm="${realm}", charset="UTF-8"`;
    if (isCustom(spec.scheme)) return `${spec.scheme ?? ''} realm="${realm}"`;
    return `Bearer realm="${realm}"${bearerError}`;
  });
  return [...new Set(challenges)].join(', ');
}
