/** Issues in the format that the REST APIs of GitHub and Forgejo share. */
import { createHash } from 'node:crypto';
import type { ForgeIssue } from './model.js';

export interface RestIssueNode {
  readonly number: number;
  readonly title: string;
  readonly html_url: string;
  /** Null for a deleted account. */
  readonly user: { readonly login: string } | null;
  readonly labels: readonly { readonly name: string; readonly color: string }[] | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export function toForgeIssue(node: RestIssueNode, repo: string): ForgeIssue {
  const { number, title, html_url: url, user, labels, created_at: createdAt, updated_at: updatedAt } = node;
  return {
    repo,
    number,
    title,
    url,
    author: user?.login ?? 'ghost',
    labels: labels ?? [],
    createdAt,
    updatedAt,
  };
}

/** Returns a hash that changes with any value of `head` and with every change of the open issues and pull requests. */
export function toRevision(
  head: readonly (string | null)[],
  open: readonly Pick<RestIssueNode, 'number' | 'updated_at'>[],
): string {
  const changes = open.map(({ number, updated_at }) => `${number} ${updated_at}`).sort();
  return createHash('sha256')
    .update([...head, ...changes].join('\n'))
    .digest('base64url');
}
