import { signal } from '@preact/signals';
import type { Middleware } from 'openapi-fetch';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { limitWait, loadInTime } from '../api.js';
import {
  type Audience,
  findUser,
  loadSession,
  onSignInElsewhere,
  sessionError,
  type SessionUser,
  user,
} from '../session.js';
import type { SignInButton } from '../sign-in/sign-in.js';
import { Heading } from './headings.js';
import { AsyncContent } from './resource.js';

interface GuardedProps {
  readonly needs: Audience;
  readonly children: ComponentChildren;
}

/** Shows a page only to users who can open it; others are sent to the sign-in page, which leads back here. */
export function RequireSignIn({ needs, children }: GuardedProps) {
  const { url, route } = useLocation();
  // The router keeps this page on screen while the next one loads, although the address has already changed.
  const [own] = useState(url);
  const isStranger = needs !== 'public' && user.value === null;
  useEffect(() => {
    if (isStranger) route(`/sign-in?next=${encodeURIComponent(own)}`, true);
  }, [isStranger, own, route]);
  if (needs === 'public') return <>{children}</>;
  if (!user.value) return <Unknown />;
  if (needs === 'admin' && !user.value.isAdmin) return <NotForYou />;
  return <>{children}</>;
}

/** Shown while the session is loading, and when it could not be loaded. */
function Unknown() {
  const problem = sessionError.value;
  if (problem === undefined) return <p class="quiet">Loading …</p>;
  return (
    <>
      <Heading>Your session could not be loaded</Heading>
      <AsyncContent from={{ value: undefined, problem, reload: loadSession }}>{() => null}</AsyncContent>
    </>
  );
}

const NotForYou = () => (
  <section class="narrow">
    <Heading>Admins only</Heading>
    <p>Only admins can see this page.</p>
    <p>
      <a class="button" href="/">
        Back to the home page
      </a>
    </p>
  </section>
);

/** Reports to the requests of an ended session whether the user has signed in and they can be sent again. */
type Settle = (isSignedIn: boolean) => void;

/** The sign-in for which the dialog is open. */
const pendingSignIn = signal<PendingSignIn>();

interface PendingSignIn {
  readonly settle: Settle;
  /** Whether the session is valid, and the operation requires a recent sign-in. */
  readonly isConfirmation: boolean;
}

/** The pending sign-in, for which all requests that fail with 401 wait together. */
let waiting: Promise<boolean> | undefined;

/**
 * After a cancelled sign-in, only requests that change something open the dialog again: pages also read on their own.
 */
let isDeclined = false;

const originals = new WeakMap<Request, Request>();

/**
 * Opens a sign-in dialog when a request fails because the session has ended, and repeats the request afterwards, so
 * that no input is lost. Without a sign-in the page receives the original 401 response, or an error if the session is
 * valid and only its confirmation was cancelled.
 */
export const repeatAfterSignIn: Middleware = {
  onRequest({ request }) {
    // A body can be read only once, so a copy is needed to send it again.
    originals.set(request, request.clone());
  },
  async onResponse({ request, response, options }) {
    const original = originals.get(request);
    const isAsked = response.status === 401 && Boolean(user.value) && !isAboutSignIn(request);
    if (!isAsked || original === undefined || (isDeclined && request.method === 'GET')) return undefined;
    // The challenge of RFC 9470.
    const isConfirmation = (response.headers.get('WWW-Authenticate') ?? '').includes(
      'insufficient_user_authentication',
    );
    // The wait for the sign-in may have taken all the time of the first request.
    if (await askToSignIn(isConfirmation))
      return fetch(options.parseAs === 'stream' ? original : new Request(original, { signal: limitWait() }));
    if (isConfirmation) throw new Error('Confirm this with your passkey. Nothing was changed.');
    return undefined;
  },
};

/** Returns whether a request reads or starts the session. Such requests handle a 401 response themselves. */
const isAboutSignIn = ({ url }: Request): boolean => /^\/api\/auth\/(?:session$|login\/)/.test(new URL(url).pathname);

function askToSignIn(isConfirmation: boolean): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    pendingSignIn.value = { settle: resolve, isConfirmation };
  }).then((isSignedIn) => {
    isDeclined = !isSignedIn && !isConfirmation;
    waiting = undefined;
    pendingSignIn.value = undefined;
    return isSignedIn;
  });
  return waiting;
}

/** The sign-in dialog, shown while requests wait for a sign-in. */
export function SessionExpired() {
  const pending = pendingSignIn.value;
  return pending && <SignInDialog {...pending} />;
}

/** Signs in with a different tab, if the server no longer has the script of this tab's release. */
function SignInElsewhere({ onDone }: { readonly onDone: (next: SessionUser) => void }) {
  const [isRefused, setIsRefused] = useState(false);
  const proceed = async (): Promise<void> => {
    const next = await findUser();
    if (next) onDone(next);
    else setIsRefused(true);
  };
  return (
    <>
      <a class="button main" href="/sign-in" target="_blank">
        Sign in in a new tab
      </a>
      <button type="button" onClick={() => void proceed()}>
        Continue
      </button>
      {isRefused && <p role="alert">You’re not signed in yet.</p>}
    </>
  );
}

function SignInDialog({ settle, isConfirmation }: PendingSignIn) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [Button, setButton] = useState<typeof SignInButton>();
  const [isOutdated, setIsOutdated] = useState(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // Loaded on demand, as few pages need passkeys.
    loadInTime(import('../sign-in/sign-in.js')).then(
      (module) => setButton(() => module.SignInButton),
      () => setIsOutdated(true),
    );
  }, []);
  // The first button takes the focus when the dialog opens, and “Sign in” is not there yet.
  useLayoutEffect(() => {
    if (Button !== undefined) dialog.current?.querySelector('button')?.focus();
  }, [Button]);
  const enter = (next: SessionUser): void => {
    // The page still shows data of the previous user.
    if (next.username !== user.value?.username) {
      location.reload();
      return;
    }
    user.value = next;
    settle(true);
  };
  useEffect(() => {
    // Only a passkey confirms a change.
    if (isConfirmation) return undefined;
    return onSignInElsewhere((name) => {
      if (name !== '') void findUser().then((next) => next && enter(next));
    });
  }, [isConfirmation]);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => settle(false)}>
      <h2 id={id}>{isConfirmation ? 'Confirm with your passkey' : 'You’ve been signed out'}</h2>
      <p>
        {isConfirmation
          ? 'This change needs a sign-in in the last 10 minutes. It continues afterwards.'
          : 'Sign in to continue. Nothing on this page is lost.'}
      </p>
      <div class="row wrapping">
        {Button && <Button onDone={enter} />}
        {isOutdated && <SignInElsewhere onDone={enter} />}
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </div>
    </dialog>
  );
}
