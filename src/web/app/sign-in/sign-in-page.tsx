import { browserSupportsWebAuthn } from '@simplewebauthn/browser';
import { useLocation } from 'preact-iso';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../generated/dashboard/client.js';
import { dashboardClient } from '../api.js';
import { isServiceEnabled, publicOrigin, ROUTER_SCOPE } from '../page-data.js';
import { belongsToOther, type SessionUser, user } from '../session.js';
import { CopyButton } from '../ui/buttons.js';
import { Field, Form, FormError, useFormError } from '../ui/form.js';
import { Heading } from '../ui/headings.js';
import { registerAccount, SignInButton, SignInForm } from './sign-in.js';

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
    // The pages in memory still contain the data of the previous user.
    if (belongsToOther()) location.replace(next);
    // A new server is empty, so its first user starts with the list of first steps.
    else if (link?.isSetup && next === '/' && isServiceEnabled('dashboard')) route('/services', true);
    else if (ROUTER_SCOPE.test(next)) route(next, true);
    else location.replace(next);
  }, [link, next, route]);
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

/**
 * Restricts the target of a redirect to paths of this server, as links can contain any text. Browsers ignore tabs and line
 * breaks in a URL.
 */
function toPath(next = ''): string {
  return /^\/(?!\/)[^\\\p{Cc}]*$/u.test(next) ? next : '/';
}

/**
 * Shown at an origin other than the server's public one. The link to that one keeps the fragment with the invitation.
 */
function WrongOrigin() {
  const there = publicOrigin + location.pathname + location.search + location.hash;
  return (
    <section class="narrow">
      <Heading>Wrong address</Heading>
      <p>
        You opened <code>{location.origin}</code>. Passkeys for this server only work at <code>{publicOrigin}</code>.
      </p>
      <p>
        <a class="button main" href={there}>
          Continue
        </a>
      </p>
    </section>
  );
}

/** Shown at an origin without https, where browsers disable passkeys and the Web Crypto API. */
function InsecureOrigin() {
  return (
    <section class="narrow">
      <Heading title="Sign in">Passkeys need a secure address</Heading>
      <p>
        Browsers allow passkeys only at addresses that begin with <code>https://</code>, and at <code>localhost</code>.
        This address is <code>{publicOrigin}</code>.
      </p>
      <p>
        You can’t change this here. The operator of this server has to serve it over <code>https</code> and to set{' '}
        <code>PUBLIC_URL</code>.
      </p>
    </section>
  );
}

/** Shown in browsers without passkeys. The link stays in the address bar, so that it can be opened elsewhere. */
function NoPasskeys() {
  const isInvited = location.hash !== '';
  return (
    <section class="narrow">
      <Heading title="Sign in">This browser doesn’t support passkeys</Heading>
      <p>
        {isInvited ? 'To create your account' : 'To sign in'}, you need a passkey, which is stored on this device, a
        phone or a security key. This browser is too old for passkeys, or they are turned off.
      </p>
      <p>What you can do:</p>
      <ul>
        <li>
          Open this page in a current Chrome, Edge, Firefox or Safari, here or on another device such as your phone.
        </li>
        <li>Update this browser, or allow passkeys (WebAuthn) in its settings.</li>
        <li>If this window is part of an app, choose “Open in browser”.</li>
      </ul>
      <CopyAddress />
      {isInvited && <p class="quiet">Your link is still valid until it expires.</p>}
    </section>
  );
}

/** The clipboard may be missing too. */
function CopyAddress() {
  if (!('clipboard' in navigator)) return null;
  return (
    <p>
      To open this page elsewhere, copy its address:{' '}
      <CopyButton value={location.href} what="the address of this page" />
    </p>
  );
}

interface JoinProps {
  readonly link: InvitationLink;
  readonly onDone: (user: SessionUser) => void;
  /** Called when the link is no longer valid. */
  readonly onEnded: () => void;
}

/** A form that creates the account of a setup link or an invitation, with its first passkey. */
function CreateAccount({ link, onDone, onEnded }: JoinProps) {
  const [username, setUsername] = useState(link.username ?? '');
  const [displayName, setDisplayName] = useState('');
  const [problem, join] = useFormError(async () => {
    // For an invitation, the server uses the names that the admin has entered.
    const account = { username, displayName: displayName || username, inviteToken: link.secret };
    await registerAccount(account).then(onDone, (error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'forbidden')) throw error;
      onEnded();
    });
  });
  useEffect(() => {
    if (link.isSetup) void isSetupOpen().then((isOpen) => !isOpen && onEnded());
  }, [link]);
  return (
    <section class="narrow">
      <Heading>{link.isSetup ? 'Create the admin account' : 'Create your account'}</Heading>
      <Form verb="Create a passkey" onSave={join}>
        <Field
          label="Username"
          required
          maxLength={64}
          autoComplete="username"
          autoCapitalize="none"
          spellcheck={false}
          readOnly={link.username !== null}
          value={username}
          onValue={setUsername}
        />
        {link.isSetup && (
          <Field
            label="Display name"
            required
            maxLength={100}
            autoComplete="name"
            value={displayName}
            onValue={setDisplayName}
          />
        )}
        <p class="quiet">
          You’ll sign in with a passkey instead of a password. Your browser asks where to save it: on this device, a
          phone or a security key.
        </p>
        <FormError problem={problem} />
      </Form>
    </section>
  );
}

/**
 * Returns whether the server has no accounts yet, so that a used setup link is reported before the form is filled in.
 */
async function isSetupOpen(): Promise<boolean> {
  const { data } = await dashboardClient.GET('/api/auth/registration-status').catch(() => ({ data: undefined }));
  return data?.open ?? true;
}

interface LinkEndedProps {
  readonly link: InvitationLink;
  readonly onDone: (user: SessionUser) => void;
}

/** Shown for a link that was used, has expired, was withdrawn or never existed; the server does not reveal which. */
function ExpiredLink({ link, onDone }: LinkEndedProps) {
  return (
    <section class="narrow">
      <Heading>This link has expired</Heading>
      {link.isSetup ? (
        <p>
          A setup link works once, within one hour, and creates the first account. As long as there are no accounts, the
          server prints a new link whenever it starts.
        </p>
      ) : (
        <p>
          An invitation works once, within one hour, unless the admin withdraws it. Ask the admin for a new one
          {link.username === null ? '' : ` for “${link.username}”`}.
        </p>
      )}
      <p>If you have already used the link, you have an account:</p>
      <SignInButton onDone={onDone} />
    </section>
  );
}

/** The data of a setup link or an invitation. Links carry it in the fragment, which browsers never send. */
interface InvitationLink {
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
function readInvitationLink(): InvitationLink | undefined {
  const link = parseLink(location.hash);
  if (link !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return link;
}
