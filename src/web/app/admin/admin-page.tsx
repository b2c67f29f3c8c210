import { Heading } from '../ui/heading.js';
import { Invitations } from './invitations.js';
import { Users } from './users.js';
import { RequestLog } from './request-log.js';

export function AdminPage() {
  return (
    <>
      <Heading>Admin</Heading>
      <Users />
      <Invitations />
      <RequestLog />
    </>
  );
}
