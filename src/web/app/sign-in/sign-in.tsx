import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../generated/dashboard/client.js';
import { explain } from '../answers.js';
import { dashboard } from '../clients.js';
import { signIn } from '../passkeys.js';
import type { SessionUser } from '../session.js';
import { ActionButton } from '../shell/action-button.js';
import { Heading } from '../shell/heading.js';
import { Problem, useProblem } from '../shell/problem.js';

interface SignInProps {
  readonly onDone: (user: SessionUser) => void;
}

export function SignIn({ onDone }: SignInProps) {
  return (
    <section class="narrow">
      <Heading>Sign in</Heading>
      <SignInButton onDone={onDone} />
      <Hint />
    </section>
  );
}

/** The one act of signing in, with what went wrong below it. */
export function SignInButton({ onDone }: SignInProps) {
  const [problem, enter] = useProblem(async () => onDone(await signIn()), toWords);
  return (
    <>
      <ActionButton class="main" onAct={enter}>
        Sign in with a passkey
      </ActionButton>
      <Problem text={problem} />
    </>
  );
}

/** All that a passkey can be refused for has one answer, which tells nobody what there is. */
function toWords(error: unknown): string {
  if (!(error instanceof ApiError && error.code === 'invalid_input')) return explain(error);
  return 'That passkey opens no account here: it was removed, or the request took longer than five minutes. Try again, or use another.';
}

/** How somebody without an account gets one, and back to one. */
function Hint() {
  const [isOpen, setOpen] = useState<boolean>();
  useEffect(() => {
    const ask = dashboard.GET('/api/auth/registration-status');
    // Without an answer there is no hint; signing in says what is wrong.
    void ask.then(({ data }) => setOpen(data?.open)).catch(() => undefined);
  }, []);
  if (isOpen === undefined) return null;
  if (isOpen) {
    return (
      <p class="quiet">
        Nobody has an account yet. The link for the first one was printed where this server was started.
      </p>
    );
  }
  return (
    <>
      <p class="quiet">A new account takes an invitation: ask the admin for a link.</p>
      <details class="fold">
        <summary>My passkey is lost</summary>
        <p>
          Use another of yours, if you have one. Otherwise ask the admin: they can put your account out and invite you
          again to the same name, which leads back to all that you stored.
        </p>
        <p>
          An admin without a passkey gets in by a link that is printed on the server’s machine:{' '}
          <code>trellis accounts recover --user …</code>
        </p>
      </details>
    </>
  );
}
