/** What a link that lets somebody in carries behind `#`, which browsers never send. */
export interface InvitationLink {
  readonly secret: string;
  /** Of the first account, which becomes the admin's. */
  readonly isSetup: boolean;
  /** Whom an invitation is for. */
  readonly username: string | null;
}

function parseLink(hash: string): InvitationLink | undefined {
  const fragment = new URLSearchParams(hash.slice(1));
  const [setup, invite] = [fragment.get('setup'), fragment.get('invite')];
  const secret = setup ?? invite;
  return secret === null ? undefined : { secret, isSetup: setup !== null, username: fragment.get('username') };
}

/**
 * Takes the link out of the address bar, where it would be seen, and kept in
 * the history. Only for a page that can use it: from another, it has to be carried on.
 */
export function takeLink(): InvitationLink | undefined {
  const link = parseLink(location.hash);
  if (link !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return link;
}
