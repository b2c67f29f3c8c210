import { useCallback, useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { browserSupportsWebAuthn } from '../passkeys.js';
import { PAGES_ALONE } from '../routes.js';
import { publicOrigin } from '../server-facts.js';
import { user } from '../session.js';
import type { SessionUser } from '../session.js';
import { takeLink } from './invitation-link.js';
import type { InvitationLink } from './invitation-link.js';
import { Join } from './join.js';
import { LinkEnded } from './link-ended.js';
import { SignIn } from './sign-in.js';
import { Elsewhere, NoPasskeys, NotSafe } from './unsupported.js';
import './sign-in.css';

/** The way in, or what keeps this browser from it at this address. */
export function SignInPage() {
  if (location.origin !== publicOrigin) return <Elsewhere />;
  if (!window.isSecureContext) return <NotSafe />;
  if (!browserSupportsWebAuthn()) return <NoPasskeys />;
  return <Entrance />;
}

function Entrance() {
  const { query, route } = useLocation();
  const link = useLink();
  const [ended, setEnded] = useState<InvitationLink>();
  // The router shows this page until the next one is loaded, when the address is already the next one's.
  const [next] = useState(() => toPath(query.next));
  const isIn = Boolean(user.value) && link === undefined;
  const leave = useCallback(() => {
    if (PAGES_ALONE.test(next)) route(next, true);
    else location.replace(next);
  }, [next, route]);
  useEffect(() => {
    // Whoever is signed in already came by a bookmark.
    if (isIn) leave();
  }, [isIn, leave]);
  const enter = (who: SessionUser): void => {
    user.value = who;
    leave();
  };
  if (link === undefined) return <SignIn onDone={enter} />;
  if (link === ended) return <LinkEnded link={link} onDone={enter} />;
  return <Join key={link.secret} link={link} onDone={enter} onEnded={() => setEnded(link)} />;
}

/** The link that the page was opened with, or another that was opened since: for the browser that is no other page. */
function useLink(): InvitationLink | undefined {
  const [link, setLink] = useState(takeLink);
  useEffect(() => {
    const onChange = (): void => setLink((before) => takeLink() ?? before);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return link;
}

/** A path of this server alone: a link could have brought any text. */
function toPath(next: string | undefined): string {
  return next?.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}
