/** The header is untrusted and shown in a warning, so it is cut. */
const MAX_SHOWN = 64;

/** Returns a check of responses that warns once when the server uses a different revision of the contract. */
export function createRevisionCheck(
  { product, revision }: { readonly product: string; readonly revision: string },
  onWarning: (message: string) => void,
): (response: Response) => void {
  let hasWarned = false;
  return ({ headers }) => {
    const theirs = headers.get('X-Trellis-Revision');
    if (hasWarned || theirs === null || theirs === revision) return;
    hasWarned = true;
    onWarning(
      `${product}: this client was generated for revision ${revision}; the server is at ${theirs.slice(0, MAX_SHOWN)}.`,
    );
  };
}
