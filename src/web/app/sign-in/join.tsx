import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../../generated/dashboard/client.js';
import { dashboard } from '../clients.js';
import { register } from '../passkeys.js';
import type { SessionUser } from '../session.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Heading } from '../shell/heading.js';
import { Problem, useProblem } from '../shell/problem.js';
import type { InvitationLink } from './invitation-link.js';

interface JoinProps {
  readonly link: InvitationLink;
  readonly onDone: (user: SessionUser) => void;
  /** The link is of no use any more. */
  readonly onEnded: () => void;
}

/** Makes the account that a link is for, with its first passkey. */
export function Join({ link, onDone, onEnded }: JoinProps) {
  const [username, setUsername] = useState(link.username ?? '');
  const [displayName, setDisplayName] = useState('');
  const [problem, join] = useProblem(async () => {
    // Whom an invitation is for, and how others see them, the admin has said.
    const account = { username, displayName: displayName || username, inviteToken: link.secret };
    await register(account).then(onDone, (error: unknown) => {
      if (!(error instanceof ApiError && error.code === 'forbidden')) throw error;
      onEnded();
    });
  });
  useEffect(() => {
    if (link.isSetup) void isUnclaimed().then((is) => !is && onEnded());
  }, [link]);
  return (
    <section class="narrow">
      <Heading>{link.isSetup ? 'Make the admin’s account' : 'Make your account'}</Heading>
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
            label="Your name, as others see it"
            required
            maxLength={100}
            autoComplete="name"
            value={displayName}
            onValue={setDisplayName}
          />
        )}
        <p class="quiet">
          In place of a password you get a passkey. Your browser asks where to keep it: this device, a phone or a
          security key.
        </p>
        <Problem text={problem} />
      </Form>
    </section>
  );
}

/** Whether nobody has an account yet; said before somebody fills in a form for nothing. */
async function isUnclaimed(): Promise<boolean> {
  const { data } = await dashboard.GET('/api/auth/registration-status').catch(() => ({ data: undefined }));
  return data?.open ?? true;
}
