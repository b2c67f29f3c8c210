import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { browserSupportsWebAuthn, signIn } from '../passkeys.js';
import { publicOrigin } from '../server-facts.js';
import { user } from '../session.js';
import type { SessionUser } from '../session.js';
import { dashboard } from '../clients.js';
import { ActionButton } from '../shell/action-button.js';
import { Heading } from '../shell/heading.js';
import { takeLink } from './invitation-link.js';
import { Join } from './join.js';
import './sign-in.css';

export function SignInPage() {
  const { query, route } = useLocation();
  const [link] = useState(takeLink);
  const enter = (who: SessionUser): void => {
    user.value = who;
    route(toPath(query.next), true);
  };
  if (location.origin !== publicOrigin) return <Elsewhere />;
  if (!browserSupportsWebAuthn()) return <Unsupported />;
  if (link !== undefined) return <Join link={link} onDone={enter} />;
  return (
    <section class="narrow">
      <Heading>Sign in</Heading>
      <ActionButton class="main" onAct={async () => enter(await signIn())}>
        Sign in with a passkey
      </ActionButton>
      <Hint />
    </section>
  );
}

/** A path of these pages alone: a link could have brought any text. */
function toPath(next: string | undefined): string {
  return next?.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}

/** How somebody without an account gets one. */
function Hint() {
  const [isOpen, setOpen] = useState<boolean>();
  useEffect(() => {
    void dashboard.GET('/api/auth/registration-status').then(({ data }) => setOpen(data?.open));
  }, []);
  if (isOpen === undefined) return null;
  return (
    <p class="quiet">
      {isOpen
        ? 'Nobody has an account yet. The link for the first one was printed where this server was started.'
        : 'A new account takes an invitation: ask the admin for a link.'}
    </p>
  );
}

function Elsewhere() {
  const there = publicOrigin + location.pathname + location.search + location.hash;
  return (
    <section class="narrow">
      <Heading>Another address</Heading>
      <p>
        Passkeys of this server hold at <a href={there}>{publicOrigin}</a> alone. Go on there.
      </p>
    </section>
  );
}

function Unsupported() {
  return (
    <section class="narrow">
      <Heading title="Sign in">This browser can’t use passkeys here</Heading>
      <p>
        Signing in takes a passkey: a key on this device, on a phone or on a security key. Any current Chrome, Edge,
        Firefox or Safari has them, at an address that begins with <code>https://</code> or{' '}
        <code>http://localhost</code>.
      </p>
    </section>
  );
}
