/** The server's revision header is shown in a warning, and comes from outside. */
const MAX_SHOWN = 64;

/** Gives a check that warns, once, of a server that speaks another revision of the contract than the client. */
export function revisionCheck(
  { product, revision }: { readonly product: string; readonly revision: string },
  onWarning: (message: string) => void,
): (response: Response) => void {
  let warned = false;
  return ({ headers }) => {
    const theirs = headers.get('X-Trellis-Revision');
    if (warned || theirs === null || theirs === revision) return;
    warned = true;
    onWarning(
      `${product}: this client was made for revision ${revision}; the server is at ${theirs.slice(0, MAX_SHOWN)}.`,
    );
  };
}
