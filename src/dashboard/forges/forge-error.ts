import type { components } from '../../generated/dashboard/types.js';

export type ForgeErrorKind = components['schemas']['ForgeErrorKind'];

/** Why an action was refused, for programs. */
export type RefusalCode =
  | 'already_closed'
  | 'already_merged'
  | 'already_up_to_date'
  | 'auto_merge_not_allowed'
  | 'behind'
  | 'blocked_by_protection'
  | 'checks_failing'
  | 'checks_pending'
  | 'conflict'
  | 'label_missing'
  | 'not_mergeable'
  | 'permission'
  | 'rate_limited'
  | 'ready_to_merge'
  | 'stacked'
  | 'unknown';

/** The remedy for an address that the policy refuses. */
export const HOW_TO_ALLOW = 'An administrator can allow it with TRELLIS_FORGE_ALLOW.';

/** What people are shown; what a forge writes can hold names and ids that are not for everybody. */
export const FORGE_ERROR_SENTENCES: Readonly<Record<ForgeErrorKind, string>> = {
  unreachable: 'The forge did not answer; it is asked again at the next refresh.',
  unauthorized: 'The forge refused the credential; it may have expired or lack a permission.',
  not_found: 'The forge has nothing under this name, or hides it from the credential.',
  rate_limited: 'The forge takes no more requests for now; they go on when its limit is reset.',
  conflict: 'The forge refused, as the pull request is in another state than expected.',
  address_refused: `The forge's address is in a private or reserved range. ${HOW_TO_ALLOW}`,
  unknown: 'The forge gave an answer that was not expected.',
};

export interface ForgeErrorOptions extends ErrorOptions {
  readonly status?: number | undefined;
  /** When a limit ends, in milliseconds. */
  readonly resetsAt?: number | undefined;
  readonly refusal?: RefusalCode | undefined;
  readonly needs?: string | undefined;
  readonly timedOut?: boolean | undefined;
}

/** A forge could not be asked, or refused. The message is safe to show; what the forge wrote is in `cause`, for logs. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  readonly kind: ForgeErrorKind;
  readonly status: number | undefined;
  readonly resetsAt: number | undefined;
  /** Why an action was refused, where that is known. */
  readonly refusal: RefusalCode | undefined;
  /** What is missing (a permission, a newer server), in words that can be shown, where that is known. */
  readonly needs: string | undefined;
  /** The forge gave up on the request, or answered too late: a smaller request may succeed. */
  readonly timedOut: boolean;

  constructor(
    kind: ForgeErrorKind,
    { status, resetsAt, refusal, needs, timedOut = false, ...options }: ForgeErrorOptions = {},
  ) {
    super(sentenceOf(kind, needs), options);
    this.kind = kind;
    this.status = status;
    this.resetsAt = resetsAt;
    this.refusal = refusal;
    this.needs = needs;
    this.timedOut = timedOut;
  }
}

function sentenceOf(kind: ForgeErrorKind, needs: string | undefined): string {
  if (needs === undefined) return FORGE_ERROR_SENTENCES[kind];
  return `The forge refused${kind === 'unauthorized' ? ' the credential' : ''}; this takes ${needs}.`;
}

/** To be caught with: what isn't there is `undefined`, anything else still fails. */
export function orGone(error: unknown): undefined {
  if (!(error instanceof ForgeError) || error.kind !== 'not_found') throw error;
}

/** What comes from outside may have any shape; where ours trips over it, that is the forge's error too. */
export function toForgeError(error: unknown): ForgeError {
  return error instanceof ForgeError ? error : new ForgeError('unknown', { cause: error });
}
