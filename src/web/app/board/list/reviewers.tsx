import { Avatar } from '../../ui/avatar.js';
import type { PullRequest } from '../data/rows.js';

/** More avatars would not fit their column. */
const MAX_AVATARS = 3;

/** The users whose review is requested. */
export function RequestedReviewers({ requestedReviewerLogins: logins }: PullRequest) {
  if (logins.length === 0) return <span class="reviewers" />;
  const text = `Review requested from ${logins.join(', ')}`;
  return (
    <span class="reviewers" role="img" aria-label={text} title={text}>
      {logins.slice(0, MAX_AVATARS).map((login) => (
        <Avatar key={login} name={login} />
      ))}
      {logins.length > MAX_AVATARS && <span class="quiet">+{logins.length - MAX_AVATARS}</span>}
    </span>
  );
}
