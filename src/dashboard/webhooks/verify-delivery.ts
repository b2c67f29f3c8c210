/** Verifies webhook deliveries in the format of each forge. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ForgeName } from '../forges/forge.js';
import { type DeliveredText, readGithubText, readGitlabText } from '../notifications/mentions.js';

export interface WebhookDelivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The raw bytes, as the signature covers them. */
  readonly body: Buffer;
}

/** The subject of a delivery. Without a repository, as in a ping, anything may have changed. */
export interface DeliveredEvent {
  readonly fullName?: string;
  /** Whether it reports the end of a check, after which the state of a pull request may be final. */
  readonly isFinal?: boolean;
  /** The comment, review or description that the event is about. */
  readonly text?: DeliveredText;
}

interface WebhookSender {
  /** Returns `undefined` if the delivery isn't signed with the secret. */
  readonly verify: (delivery: WebhookDelivery, secret: string) => DeliveredEvent | undefined;
  /** The headers with the id of a delivery, which stays the same when it is sent again. */
  readonly idHeaders: readonly string[];
  readonly eventHeaders: readonly string[];
  /** Events that never change a row of a board. */
  readonly idleEvents: readonly string[];
}

export const WEBHOOK_SENDERS: Readonly<Record<ForgeName, WebhookSender>> = {
  github: {
    verify: verifyGithubDelivery,
    idHeaders: ['x-github-delivery'],
    eventHeaders: ['x-github-event'],
    idleEvents: ['discussion', 'discussion_comment', 'fork', 'gollum', 'star', 'watch'],
  },
  forgejo: {
    verify: verifyForgejoDelivery,
    idHeaders: ['x-forgejo-delivery', 'x-gitea-delivery'],
    eventHeaders: ['x-forgejo-event', 'x-gitea-event'],
    idleEvents: ['fork', 'package', 'release', 'wiki'],
  },
  gitlab: {
    verify: verifyGitlabDelivery,
    // X-Gitlab-Event-UUID is not unique: a delivery shares it with the deliveries that it triggers.
    idHeaders: ['idempotency-key'],
    eventHeaders: ['x-gitlab-event'],
    idleEvents: ['Feature Flag Hook', 'Release Hook', 'Wiki Page Hook'],
  },
};

/** Returns the value of the first of the headers that is present. */
export function findHeader(headers: WebhookDelivery['headers'], names: readonly string[]): string | undefined {
  const found = names.map((name) => headers[name]).find((value) => value !== undefined);
  return found === undefined ? undefined : String(found);
}

/** Verifies the HMAC signature of a delivery. @returns `undefined` when it isn't signed with the secret. */
function verifyGithubDelivery({ headers, body }: WebhookDelivery, secret: string): DeliveredEvent | undefined {
  const [, signature] = /^sha256=(.+)$/.exec(String(headers['x-hub-signature-256'] ?? '')) ?? [];
  if (signature === undefined || !verifyHmac(body, secret, signature)) return undefined;
  const readers = { nameOf: ({ repository }: WebhookPayload) => repository?.full_name, textOf: readGithubText };
  return readDeliveredEvent(body, { ...readers, isFinal: isCheckEnd });
}

/**
 * Verifies the HMAC signature of a delivery of Forgejo or Gitea.
 *
 * @returns `undefined` when it isn't signed with the secret.
 */
function verifyForgejoDelivery({ headers, body }: WebhookDelivery, secret: string): DeliveredEvent | undefined {
  const signature = headers['x-forgejo-signature'] ?? headers['x-gitea-signature'];
  if (!verifyHmac(body, secret, String(signature ?? ''))) return undefined;
  const nameOf = ({ repository, run }: WebhookPayload) => (repository ?? run?.repository)?.full_name;
  return readDeliveredEvent(body, { nameOf, textOf: readGithubText });
}

/**
 * Verifies a delivery by its secret, which GitLab sends as is, in constant time.
 *
 * @returns `undefined` if it differs.
 */
function verifyGitlabDelivery({ headers, body }: WebhookDelivery, secret: string): DeliveredEvent | undefined {
  const given = headers['x-gitlab-token'];
  if (typeof given !== 'string' || !timingSafeEqual(digest(given), digest(secret))) return undefined;
  const nameOf = ({ project }: WebhookPayload) => project?.path_with_namespace;
  return readDeliveredEvent(body, { nameOf, textOf: readGitlabText, isFinal: isPipelineEnd });
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Verifies a hexadecimal HMAC-SHA256 signature in constant time. Unlike `@octokit/webhooks-methods`, this hashes the raw
 * bytes, which need not be valid UTF-8, and rejects an empty body or signature instead of throwing.
 */
function verifyHmac(body: Buffer, secret: string, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/i.test(signature)) return false;
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), Buffer.from(signature, 'hex'));
}

/** A webhook payload. Its members are `unknown`, as a payload may have any shape. */
interface WebhookPayload {
  readonly repository?: { readonly full_name?: unknown } | null;
  /** Forgejo nests the repository of a workflow run in the run. */
  readonly run?: { readonly repository?: { readonly full_name?: unknown } | null } | null;
  /** `completed` for check runs, check suites and workflow runs of GitHub. */
  readonly action?: unknown;
  /** The state of a commit status of GitHub. */
  readonly state?: unknown;
  readonly project?: { readonly path_with_namespace?: unknown } | null;
  /** The kind of a delivery of GitLab. */
  readonly object_kind?: unknown;
  readonly object_attributes?: { readonly status?: unknown } | null;
}

const isCheckEnd = ({ action, state }: WebhookPayload): boolean =>
  action === 'completed' || ['error', 'failure', 'success'].includes(String(state));

const isPipelineEnd = ({ object_kind: kind, object_attributes: pipeline }: WebhookPayload): boolean =>
  kind === 'pipeline' && ['canceled', 'failed', 'skipped', 'success'].includes(String(pipeline?.status));

interface PayloadReaders {
  readonly nameOf: (payload: WebhookPayload) => unknown;
  readonly textOf: (payload: WebhookPayload) => DeliveredText | undefined;
  readonly isFinal?: (payload: WebhookPayload) => boolean;
}

/** Reads the repository name from the payload of a verified delivery. Returns an empty event for an invalid payload. */
function readDeliveredEvent(body: Buffer, { nameOf, textOf, isFinal = () => false }: PayloadReaders): DeliveredEvent {
  try {
    const payload = JSON.parse(body.toString()) as WebhookPayload | null;
    const fullName = payload === null ? undefined : nameOf(payload);
    if (payload === null || typeof fullName !== 'string') return {};
    const text = textOf(payload);
    return { fullName, ...(isFinal(payload) && { isFinal: true }), ...(text && { text }) };
  } catch {
    return {};
  }
}
