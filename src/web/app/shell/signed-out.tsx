import { signal } from '@preact/signals';
import type { Middleware } from 'openapi-fetch';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SignInButton } from '../sign-in/sign-in.js';
import { user } from '../session.js';
import type { SessionUser } from '../session.js';

/** Settles the sign-in that requests of an ended session wait for: whether they are to be sent again. */
type Settle = (isSignedIn: boolean) => void;

const question = signal<Settle>();

/** The sign-in that is under way; all requests that are refused meanwhile wait for it together. */
let waiting: Promise<boolean> | undefined;

/** After a refusal to sign in, only requests that change something ask again: a page also reads on its own. */
let isDeclined = false;

const originals = new WeakMap<Request, Request>();

/**
 * Asks a user whose session has ended to sign in over the page, then sends the refused request again, so that nothing
 * that was typed is lost. Without a sign-in the page gets the refusal.
 */
export const repeatAfterSignIn: Middleware = {
  onRequest({ request }) {
    // The body of the request that is sent can be read once only.
    originals.set(request, request.clone());
  },
  async onResponse({ request, response }) {
    const original = originals.get(request);
    const isAsked = response.status === 401 && Boolean(user.value) && !isAboutSignIn(request);
    if (!isAsked || original === undefined || (isDeclined && request.method === 'GET')) return undefined;
    return (await askToSignIn()) ? fetch(original) : undefined;
  },
};

/** Requests that tell whether there is a session, or start one, explain a refusal on their own. */
const isAboutSignIn = ({ url }: Request): boolean => /^\/api\/auth\/(?:session$|login\/)/.test(new URL(url).pathname);

function askToSignIn(): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    question.value = resolve;
  }).then((isSignedIn) => {
    isDeclined = !isSignedIn;
    waiting = undefined;
    question.value = undefined;
    return isSignedIn;
  });
  return waiting;
}

/** The dialog over a page whose session has ended. */
export function SignedOut() {
  const settle = question.value;
  return settle && <SignInDialog settle={settle} />;
}

function SignInDialog({ settle }: { readonly settle: Settle }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const [Button, setButton] = useState<typeof SignInButton>();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // Few pages need passkeys, so they are loaded here.
    void import('../sign-in/sign-in.js').then((module) => setButton(() => module.SignInButton));
  }, []);
  const enter = (next: SessionUser): void => {
    // The page shows data of the user who was signed in before.
    if (next.username !== user.value?.username) {
      location.reload();
      return;
    }
    user.value = next;
    settle(true);
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={() => settle(false)}>
      <h2 id={id}>You’ve been signed out</h2>
      <p>Sign in to continue. This page stays as it is, with everything that you typed.</p>
      <div class="row wrapping">
        {Button && <Button onDone={enter} />}
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </div>
    </dialog>
  );
}
