/** The data of a setup link or an invitation. Links carry it in the fragment, which browsers never send. */
export interface InvitationLink {
  readonly secret: string;
  /** Whether this is the setup link, which creates the admin account. */
  readonly isSetup: boolean;
  /** The username that an invitation fixes. */
  readonly username: string | null;
}

function parseLink(hash: string): InvitationLink | undefined {
  const fragment = new URLSearchParams(hash.slice(1));
  const [setup, invite] = [fragment.get('setup'), fragment.get('invite')];
  const secret = setup ?? invite;
  return secret === null ? undefined : { secret, isSetup: setup !== null, username: fragment.get('username') };
}

/**
 * Reads the link from the address and removes it from the address bar and the history, where others could see it. Pages
 * that only forward the link must not call this.
 */
export function readInvitationLink(): InvitationLink | undefined {
  const link = parseLink(location.hash);
  if (link !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return link;
}
