/** What older servers know nothing of: with it, they refuse a query as a whole. */

const REVIEW_STATE = 'mergeRequestInteraction { reviewState }';

/** What has to be left out of a query for each; `isForked` came with 16.9 and `detailedMergeStatus` with 15.6. */
const LATER: Readonly<Record<string, string>> = {
  isForked: 'isForked',
  detailedMergeStatus: 'detailedMergeStatus',
  mergeRequestInteraction: REVIEW_STATE,
  reviewState: REVIEW_STATE,
  // Only servers with approval rules have it.
  approved: 'approved',
};

/** Leaves out of a query what a server has said that it lacks. */
export function withoutFields(query: string, lacking: ReadonlySet<string>): string {
  const left = Array.from(lacking, (field) => LATER[field] ?? '').filter((text) => text !== '');
  return left.reduce((text, field) => text.replace(new RegExp(`(?<=\\s)${field}(?=\\s)`, 'g'), ''), query);
}

/** Finds the fields that a query can do without among those for which a server refused it. */
export function findLacking(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error: unknown) => {
    const { message } = (error ?? {}) as { readonly message?: unknown };
    const [, field = ''] = /^Field '(\w+)' doesn't exist on type '\w+'/.exec(String(message)) ?? [];
    return Object.hasOwn(LATER, field) ? [field] : [];
  });
}
