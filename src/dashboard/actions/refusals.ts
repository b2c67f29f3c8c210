import { AppError } from '../../errors.js';
import type { ActionRefusal, ErrorCode } from '../../errors.js';
import { FORGE_ERROR_SENTENCES } from '../forges/forge-error.js';
import type { ForgeError, ForgeErrorKind, RefusalCode } from '../forges/forge-error.js';

type Code = ActionRefusal['code'];

/** What people are shown; nothing of it is a forge's own words. Without a reason that is known, the kind of error says more. */
const SENTENCES: Readonly<Record<Exclude<Code, 'permission' | 'rate_limited' | 'unknown'>, string>> = {
  already_merged: 'It is merged already.',
  already_closed: 'It is closed already.',
  already_up_to_date: 'There is nothing to bring in.',
  auto_merge_not_allowed: 'Its repository does not allow merging by itself.',
  behind: 'It lacks commits of its base.',
  blocked_by_protection: 'Rules of the base are not met.',
  checks_failing: 'Its checks fail.',
  checks_pending: 'Its checks are not done.',
  conflict: 'It conflicts with its base.',
  in_progress: 'It is being done already.',
  label_missing: 'The repository has no label of the name that the settings tell.',
  not_mergeable: 'The forge would not merge it now.',
  ready_to_merge: 'It can be merged now, so there is nothing to wait for.',
  stacked: 'It stands on another open pull request.',
};

const OF_KIND: Readonly<Record<ForgeErrorKind, ErrorCode>> = {
  unauthorized: 'forbidden',
  not_found: 'not_found',
  rate_limited: 'rate_limited',
  conflict: 'conflict',
  unreachable: 'bad_gateway',
  address_refused: 'bad_gateway',
  unknown: 'bad_gateway',
};

/** Says that the pull request, or another who is at it, does not allow an action. */
export function refuse(code: Code, message = sentenceOf(code, 'conflict')): AppError {
  return new AppError('conflict', message, { action: { code } });
}

/** Says why a forge did not do what it was told. */
export function toActionRefusal(error: ForgeError, at: number): AppError {
  const { kind, refusal, resetsAt, needs } = error;
  const code = refusal ?? codeOfKind(kind);
  const known = kind === 'rate_limited' && resetsAt !== undefined ? { resetsAt: new Date(resetsAt).toISOString() } : {};
  const message = needs === undefined ? sentenceOf(code, kind) : error.message;
  return new AppError(toErrorCode(kind, code), message, {
    action: { code, ...known },
    headers: retryAfter(error, at),
    cause: error,
  });
}

/** The same for what only reads, which has no codes of its own. */
export function toReadRefusal(error: ForgeError, at: number): AppError {
  const code = error.kind === 'conflict' ? 'bad_gateway' : OF_KIND[error.kind];
  return new AppError(code, error.message, { headers: retryAfter(error, at), cause: error });
}

/** @returns The fixed sentence of a reason, or, when that is not known, of the kind of error. */
export function sentenceOf(code: Code, kind: ForgeErrorKind): string {
  if (code === 'permission') return FORGE_ERROR_SENTENCES.unauthorized;
  if (code === 'rate_limited') return FORGE_ERROR_SENTENCES.rate_limited;
  return code === 'unknown' ? FORGE_ERROR_SENTENCES[kind] : SENTENCES[code];
}

export function codeOfKind(kind: ForgeErrorKind): RefusalCode {
  if (kind === 'unauthorized') return 'permission';
  return kind === 'rate_limited' ? 'rate_limited' : 'unknown';
}

/** Whatever kind of error it was: with a reason that is the pull request's own, nothing failed. */
function toErrorCode(kind: ForgeErrorKind, code: RefusalCode): ErrorCode {
  if (code === 'label_missing') return 'not_found';
  return code === 'unknown' || code === 'permission' || code === 'rate_limited' ? OF_KIND[kind] : 'conflict';
}

/** When the limit ends is told in seconds, which another clock can't get wrong. */
function retryAfter({ kind, resetsAt }: ForgeError, at: number): Record<string, string> {
  if (kind !== 'rate_limited') return {};
  // Without a word of the forge's, a minute is what they ask for at least.
  const milliseconds = resetsAt === undefined ? 60_000 : resetsAt - at;
  return { 'Retry-After': String(Math.max(Math.ceil(milliseconds / 1000), 1)) };
}
