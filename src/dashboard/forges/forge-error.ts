import type { components } from '../../generated/dashboard/types.js';

export type ForgeErrorKind = components['schemas']['ForgeErrorKind'];

/** Machine-readable reasons why an action failed. */
export type ActionErrorCode =
  | 'already_closed'
  | 'already_merged'
  | 'already_up_to_date'
  | 'auto_merge_not_allowed'
  | 'behind'
  | 'blocked_by_protection'
  | 'checks_failing'
  | 'checks_pending'
  | 'conflict'
  | 'head_changed'
  | 'label_missing'
  | 'merge_queue'
  | 'method_not_allowed'
  | 'not_mergeable'
  | 'permission'
  | 'rate_limited'
  | 'ready_to_merge'
  | 'rule_violation'
  | 'stacked'
  | 'unknown';

/** The remedy shown when the address policy refuses an address. */
export const ALLOW_ADDRESS_HINT = 'An administrator can allow it with TRELLIS_FORGE_ALLOW.';

/** Messages for everyone who may see a board. A forge's own messages can contain private names and ids. */
export const FORGE_ERROR_MESSAGES: Readonly<Record<ForgeErrorKind, string>> = {
  unreachable: "The forge didn't respond. The next refresh contacts it again.",
  unauthorized: 'The forge rejected the credential. It may have expired or lack a permission.',
  not_found: 'The forge has nothing with this name, or hides it from the credential.',
  rate_limited: "The forge's rate limit is exceeded. Requests resume when it resets.",
  conflict: 'The forge rejected the request because the pull request is not in the expected state.',
  address_refused: `The forge's address is in a private or reserved range. ${ALLOW_ADDRESS_HINT}`,
  unknown: 'The forge returned an unexpected response.',
};

export interface ForgeErrorOptions extends ErrorOptions {
  readonly status?: number;
  /** When the rate limit resets, in milliseconds since the epoch. */
  readonly resetsAt?: number;
  readonly refusal?: ActionErrorCode;
  readonly needs?: string;
  readonly words?: string;
  readonly timedOut?: boolean;
}

/** A failed request to a forge. The message is safe to show; `cause` has the forge's own message, for logs. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  readonly kind: ForgeErrorKind;
  readonly status: number | undefined;
  readonly resetsAt: number | undefined;
  /** Why an action failed; `undefined` for any other request, or when the pull request could not be read first. */
  readonly refusal: ActionErrorCode | undefined;
  /** The missing requirement (a permission, a newer server) as a noun phrase for users, if known. */
  readonly needs: string | undefined;
  /** The forge's own message, as one line of plain text for the user of the credential only. */
  readonly words: string | undefined;
  /** The request timed out, here or at the forge; a smaller request may succeed. */
  readonly timedOut: boolean;
  /** The origin to which the address of the forge redirects, without the credential. */
  redirectedTo: string | undefined;

  constructor(
    kind: ForgeErrorKind,
    { status, resetsAt, refusal, needs, words, timedOut = false, ...options }: ForgeErrorOptions = {},
  ) {
    super(toMessage(kind, needs), options);
    this.kind = kind;
    this.status = status;
    this.resetsAt = resetsAt;
    this.refusal = refusal;
    this.needs = needs;
    this.words = words === undefined ? undefined : toLine(words);
    this.timedOut = timedOut;
  }
}

/** The longest message of a forge that is shown. */
const MAX_WORDS = 300;

function toLine(words: string): string | undefined {
  const line = words
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_WORDS)
    .replace(/[\uD800-\uDBFF]$/u, '');
  return line === '' ? undefined : line;
}

function toMessage(kind: ForgeErrorKind, needs: string | undefined): string {
  if (needs === undefined) return FORGE_ERROR_MESSAGES[kind];
  return `The forge rejected the ${kind === 'unauthorized' ? 'credential' : 'request'}. Required: ${needs}.`;
}

/** Errors of certificates, as OpenSSL and Node name them. */
const CERTIFICATE_ERROR = /CERT|SIGNATURE/;

/** Explains an error that the user of a credential corrects at its address. @returns `undefined` for other errors. */
export function explainAddress({ redirectedTo, cause }: ForgeError): string | undefined {
  if (redirectedTo !== undefined)
    return `This address redirects to ${redirectedTo}, to which the token is not sent. If the server has moved there, enter that address.`;
  const { code } = ((cause as Error | undefined)?.cause ?? {}) as { readonly code?: unknown };
  if (code === 'ENOTFOUND') return 'No server has this host name.';
  if (!CERTIFICATE_ERROR.test(String(code))) return undefined;
  return `The certificate of this address is not valid (${String(code)}). An administrator can add a private authority with NODE_EXTRA_CA_CERTS.`;
}

/** Handler for `catch` that returns `undefined` for `not_found` and rethrows every other error. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof ForgeError) || error.kind !== 'not_found') throw error;
}

/** Converts any error to a ForgeError. Errors of our own code while it reads a response count as the forge's too. */
export function toForgeError(error: unknown): ForgeError {
  return error instanceof ForgeError ? error : new ForgeError('unknown', { cause: error });
}
