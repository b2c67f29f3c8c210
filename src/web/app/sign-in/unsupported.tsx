import { publicOrigin } from '../server-facts.js';
import { CopyButton } from '../shell/copy-button.js';
import { Heading } from '../shell/heading.js';

/** With what a link carries: it is of use there, and must not be lost on the way. */
export function Elsewhere() {
  const there = publicOrigin + location.pathname + location.search + location.hash;
  return (
    <section class="narrow">
      <Heading>Another address</Heading>
      <p>
        You came by <code>{location.origin}</code>. Passkeys of this server hold at <code>{publicOrigin}</code> alone.
      </p>
      <p>
        <a class="button main" href={there}>
          Go on there
        </a>
      </p>
    </section>
  );
}

/** Browsers keep passkeys, and all of cryptography, from addresses where others could listen. */
export function NotSafe() {
  return (
    <section class="narrow">
      <Heading title="Sign in">This address is not safe enough for passkeys</Heading>
      <p>
        Browsers use passkeys only at addresses that begin with <code>https://</code>, and at <code>localhost</code>.
        This one is <code>{publicOrigin}</code>.
      </p>
      <p>
        You can do nothing about it here. Whoever runs this server has to put it behind <code>https</code> and say so
        with <code>PUBLIC_URL</code>.
      </p>
    </section>
  );
}

/** The link stays in the address bar, as it is to be opened elsewhere. */
export function NoPasskeys() {
  const isInvited = location.hash !== '';
  return (
    <section class="narrow">
      <Heading title="Sign in">This browser can’t use passkeys</Heading>
      <p>
        {isInvited ? 'An account here is opened' : 'Signing in here is done'} with a passkey: a key on this device, on a
        phone or on a security key. This browser is too old for that, or it was switched off.
      </p>
      <p>What you can do:</p>
      <ul>
        <li>Open this page in a current Chrome, Edge, Firefox or Safari; here or on another device, your phone too.</li>
        <li>Update this browser, or allow passkeys (WebAuthn) in its settings.</li>
        <li>In a window inside an app, choose “Open in the browser”.</li>
      </ul>
      <CopyAddress />
      {isInvited && <p class="quiet">Your link is not used up by this: it goes on holding until its hour is over.</p>}
    </section>
  );
}

/** Where cryptography is missing, the clipboard may be too. */
function CopyAddress() {
  if (!('clipboard' in navigator)) return null;
  return (
    <p>
      To take along, the address of this page: <CopyButton value={location.href} what="the address of this page" />
    </p>
  );
}
