import type { SessionUser } from '../session.js';
import { Heading } from '../ui/heading.js';
import type { InvitationLink } from './invitation-link.js';
import { SignInButton } from './sign-in.js';

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
