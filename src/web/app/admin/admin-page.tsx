import { Heading } from '../shell/heading.js';
import { Invitations } from './invitations.js';
import { People } from './people.js';
import { RequestLog } from './request-log.js';

export function AdminPage() {
  return (
    <>
      <Heading>Admin</Heading>
      <People />
      <Invitations />
      <RequestLog />
    </>
  );
}
