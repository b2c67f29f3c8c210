import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../generated/dashboard/client.js';
import { dashboardClient } from '../clients.js';
import { registerAccount } from '../passkeys.js';
import type { SessionUser } from '../session.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { Heading } from '../ui/heading.js';
import { FormError, useFormError } from '../ui/form-error.js';
import type { InvitationLink } from './invitation-link.js';

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
        <FormError text={problem} />
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
