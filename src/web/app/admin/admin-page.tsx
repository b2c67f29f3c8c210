import { Heading } from '../ui/heading.js';
import { InvitationsSection } from './invitations.js';
import { Users } from './users.js';
import { RequestLogSection } from './request-log.js';

export function AdminPage() {
  return (
    <>
      <Heading>Admin</Heading>
      <Users />
      <InvitationsSection />
      <RequestLogSection />
    </>
  );
}
