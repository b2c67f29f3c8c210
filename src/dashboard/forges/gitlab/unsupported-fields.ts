/** GraphQL fields that older servers don't have. Such a server rejects a query with an unknown field as a whole. */

const REVIEW_STATE = 'mergeRequestInteraction { reviewState }';

/**
 * The text to remove from a query for each unsupported field. GitLab 16.9 added `isForked`, 15.6 `detailedMergeStatus`.
 */
const LATER: Readonly<Record<string, string>> = {
  isForked: 'isForked',
  detailedMergeStatus: 'detailedMergeStatus',
  mergeRequestInteraction: REVIEW_STATE,
  reviewState: REVIEW_STATE,
  // Requires a GitLab edition with approval rules.
  approved: 'approved',
};

/** Removes the unsupported fields from a query. */
export function removeFields(query: string, lacking: ReadonlySet<string>): string {
  const removed = Array.from(lacking, (field) => LATER[field] ?? '').filter((text) => text !== '');
  return removed.reduce((text, field) => text.replace(new RegExp(`(?<=\\s)${field}(?=\\s)`, 'g'), ''), query);
}

/** Finds the optional fields among those that a server rejected. */
export function findUnsupportedFields(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error: unknown) => {
    const { message } = (error ?? {}) as { readonly message?: unknown };
    const [, field = ''] = /^Field '(\w+)' doesn't exist on type '\w+'/.exec(String(message)) ?? [];
    return Object.hasOwn(LATER, field) ? [field] : [];
  });
}
