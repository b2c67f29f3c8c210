import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { browserSupportsWebAuthn } from '../passkeys.js';
import { publicOrigin } from '../server-facts.js';
import { user } from '../session.js';
import type { SessionUser } from '../session.js';
import { takeLink } from './invitation-link.js';
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
  const [link] = useState(takeLink);
  const [hasEnded, setEnded] = useState(false);
  const next = toPath(query.next);
  const isIn = Boolean(user.value) && link === undefined;
  useEffect(() => {
    // Whoever is signed in already came by a bookmark.
    if (isIn) route(next, true);
  }, [isIn, next, route]);
  const enter = (who: SessionUser): void => {
    user.value = who;
    route(next, true);
  };
  if (link === undefined) return <SignIn onDone={enter} />;
  if (hasEnded) return <LinkEnded link={link} onDone={enter} />;
  return <Join link={link} onDone={enter} onEnded={() => setEnded(true)} />;
}

/** A path of these pages alone: a link could have brought any text. */
function toPath(next: string | undefined): string {
  return next?.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}
