import { useCallback, useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { browserSupportsWebAuthn } from '../passkeys.js';
import { ROUTER_SCOPE } from '../routes.js';
import { publicOrigin } from '../page-data.js';
import { user } from '../session.js';
import type { SessionUser } from '../session.js';
import { readInvitationLink } from './invitation-link.js';
import type { InvitationLink } from './invitation-link.js';
import { CreateAccount } from './create-account.js';
import { ExpiredLink } from './expired-link.js';
import { SignInForm } from './sign-in.js';
import { WrongOrigin, NoPasskeys, InsecureOrigin } from './unsupported.js';
import './sign-in.css';

/** The sign-in form, the account form of a link, or the reason why passkeys don't work in this browser or here. */
export function SignInPage() {
  if (location.origin !== publicOrigin) return <WrongOrigin />;
  if (!window.isSecureContext) return <InsecureOrigin />;
  if (!browserSupportsWebAuthn()) return <NoPasskeys />;
  return <Entrance />;
}

function Entrance() {
  const { query, route } = useLocation();
  const link = useLink();
  const [ended, setEnded] = useState<InvitationLink>();
  // The router keeps this page on screen while the next one loads, although the address has already changed.
  const [next] = useState(() => toPath(query.next));
  const isIn = Boolean(user.value) && link === undefined;
  const leave = useCallback(() => {
    if (ROUTER_SCOPE.test(next)) route(next, true);
    else location.replace(next);
  }, [next, route]);
  useEffect(() => {
    // A signed-in user has no reason to stay on this page.
    if (isIn) leave();
  }, [isIn, leave]);
  const enter = (signedIn: SessionUser): void => {
    user.value = signedIn;
    leave();
  };
  if (link === undefined) return <SignInForm onDone={enter} />;
  if (link === ended) return <ExpiredLink link={link} onDone={enter} />;
  return <CreateAccount key={link.secret} link={link} onDone={enter} onEnded={() => setEnded(link)} />;
}

/**
 * Returns the most recently opened link. Opening a second link changes only the fragment and does not reload the page.
 */
function useLink(): InvitationLink | undefined {
  const [link, setLink] = useState(readInvitationLink);
  useEffect(() => {
    const onChange = (): void => setLink((before) => readInvitationLink() ?? before);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return link;
}

/** Restricts the target of a redirect to paths of this server, as links can contain any text. */
function toPath(next: string | undefined): string {
  return next?.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}
