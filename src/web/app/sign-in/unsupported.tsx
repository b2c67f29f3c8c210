import { publicOrigin } from '../page-data.js';
import { CopyButton } from '../ui/copy-button.js';
import { Heading } from '../ui/heading.js';

/**
 * Shown at an origin other than the server's public one. The link to that one keeps the fragment with the invitation.
 */
export function WrongOrigin() {
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
export function InsecureOrigin() {
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
export function NoPasskeys() {
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
