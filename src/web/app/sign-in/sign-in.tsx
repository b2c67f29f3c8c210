import { startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { useEffect, useState } from 'preact/hooks';
import { createDashboardClient } from '../../../generated/dashboard/client.js';
import { dashboardClient, limitRequest, onWarning, type Problem, requireData, toProblem } from '../api.js';
import type { SessionUser } from '../session.js';
import { ActionButton } from '../ui/buttons.js';
import { FormError, useFormError } from '../ui/form.js';
import { Heading } from '../ui/headings.js';

interface SignInProps {
  readonly onDone: (user: SessionUser) => void;
}

export function SignInForm({ onDone }: SignInProps) {
  return (
    <section class="narrow">
      <Heading>Sign in</Heading>
      <SignInButton onDone={onDone} />
      <Hint />
    </section>
  );
}

/** The sign-in button, with its error below. */
export function SignInButton({ onDone }: SignInProps) {
  const [problem, enter] = useFormError(async () => onDone(await signIn()), toSignInProblem);
  return (
    <>
      <ActionButton class="main" onAct={enter}>
        Sign in with a passkey
      </ActionButton>
      <FormError problem={problem} />
    </>
  );
}

/** Shows one message for every rejected passkey, so that it does not reveal which accounts exist. */
function toSignInProblem(error: unknown): Problem {
  const problem = toProblem(error);
  return problem.code === 'invalid_input' ? { ...problem, message: NOT_ACCEPTED } : problem;
}

const NOT_ACCEPTED =
  'This passkey was not accepted: it was removed, or the request took longer than five minutes. Try again, or use another passkey.';

/** Help for users without an account or without their passkey. */
function Hint() {
  const [isOpen, setOpen] = useState<boolean>();
  useEffect(() => {
    const status = dashboardClient.GET('/api/auth/registration-status');
    // A failed request only hides the hint; signing in reports the error.
    void status.then(({ data }) => setOpen(data?.open)).catch(() => undefined);
  }, []);
  if (isOpen === undefined) return null;
  if (isOpen) {
    return <p class="quiet">There are no accounts yet. Open the setup link that the server printed when it started.</p>;
  }
  return (
    <>
      <p class="quiet">To create an account you need an invitation. Ask the admin for a link.</p>
      <details class="fold">
        <summary>I lost my passkey</summary>
        <p>
          If you have another passkey, use that one. Otherwise ask the admin to revoke your access and to invite you
          again with the same username, which restores access to your data.
        </p>
        <p>
          If you are the admin, run this command on the server to print a recovery link:{' '}
          <code>trellis accounts recover --user …</code>
        </p>
      </details>
    </>
  );
}

/** A passkey's response is accepted once, so that a second attempt after a lost response would be rejected. */
const onceClient = createDashboardClient('/', { retry: { maxRetries: 0 }, onWarning });
onceClient.use(limitRequest);

/** Signs in with a passkey that the user selects. */
async function signIn(): Promise<SessionUser> {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/login/begin', { body: {} }));
  const body = toBody(await startAuthentication({ optionsJSON }));
  return requireData(await onceClient.POST('/api/auth/login/finish', { body, params: { query: {} } }));
}

/** Asks for a passkey to confirm one sensitive operation. @returns the credential for its request. */
export async function confirmWithPasskey() {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/login/begin', { body: {} }));
  const credential = toBody(await startAuthentication({ optionsJSON }));
  return { ...credential, response: { ...credential.response } };
}

interface NewAccount {
  readonly username: string;
  readonly displayName: string;
  /** From the setup link or the invitation. */
  readonly inviteToken: string;
}

/** Creates an account with its first passkey and signs in. */
export async function registerAccount(account: NewAccount): Promise<SessionUser> {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/register/begin', { body: account }));
  const body = toBody(await startRegistration({ optionsJSON }));
  const query = { username: account.username };
  return requireData(await onceClient.POST('/api/auth/register/finish', { params: { query }, body }));
}

/** Adds a passkey to the account of this session. */
export async function addPasskey(label: string): Promise<void> {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/credentials/begin'));
  const body = toBody(await startRegistration({ optionsJSON }));
  requireData(await dashboardClient.POST('/api/auth/credentials/finish', { params: { query: { label } }, body }));
}

type WithOpenExtensions<T> = Omit<T, 'clientExtensionResults'> & { clientExtensionResults: Record<string, unknown> };

/** Widens the type of a credential to that of the contract, where extensions may have any name. */
function toBody<T extends { readonly clientExtensionResults: object }>(credential: T): WithOpenExtensions<T> {
  const clientExtensionResults = { ...credential.clientExtensionResults } as Record<string, unknown>;
  return { ...credential, clientExtensionResults };
}
