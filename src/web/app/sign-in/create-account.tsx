import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../generated/dashboard/client.js';
import { dashboardClient } from '../api.js';
import { registerAccount } from '../passkeys.js';
import type { SessionUser } from '../session.js';
import { Field, Form, FormError, useFormError } from '../ui/form.js';
import { Heading } from '../ui/headings.js';
import { SignInButton } from './sign-in.js';

interface JoinProps {
  readonly link: InvitationLink;
  readonly onDone: (user: SessionUser) => void;
  /** Called when the link is no longer valid. */
  readonly onEnded: () => void;
}

/** A form that creates the account of a setup link or an invitation, with its first passkey. */
export function CreateAccount({ link, onDone, onEnded }: JoinProps) {
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
export function ExpiredLink({ link, onDone }: LinkEndedProps) {
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
export interface InvitationLink {
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
export function readInvitationLink(): InvitationLink | undefined {
  const link = parseLink(location.hash);
  if (link !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return link;
}
