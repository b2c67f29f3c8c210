import type { SessionUser } from '../session.js';
import { Heading } from '../shell/heading.js';
import type { InvitationLink } from './invitation-link.js';
import { SignInButton } from './sign-in.js';

interface LinkEndedProps {
  readonly link: InvitationLink;
  readonly onDone: (user: SessionUser) => void;
}

/** A link that was used, has expired, was withdrawn or never held: which of them, the server tells nobody. */
export function LinkEnded({ link, onDone }: LinkEndedProps) {
  return (
    <section class="narrow">
      <Heading>This link doesn’t hold any more</Heading>
      {link.isSetup ? (
        <p>
          A setup link makes the first account, once and within an hour. While nobody has an account, the server prints
          another whenever it is started; that one holds.
        </p>
      ) : (
        <p>
          An invitation holds once and for an hour, and the admin can withdraw it. Ask the admin for another
          {link.username === null ? '' : ` for “${link.username}”`}.
        </p>
      )}
      <p>If it was you who used it, you have an account:</p>
      <SignInButton onDone={onDone} />
    </section>
  );
}
