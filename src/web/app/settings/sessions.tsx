import { useRef } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { ConfirmButton } from '../ui/buttons.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';

type Session = components['schemas']['Session'];

const loadSessions = async () => requireData(await dashboardClient.GET('/api/auth/sessions'));

export function SessionsSection() {
  const sessions = useResource(loadSessions);
  const heading = useRef<HTMLHeadingElement>(null);
  /** Reloads the list, and moves the focus from a button that disappears. */
  const reload = async (): Promise<void> => {
    await sessions.reload();
    heading.current?.focus();
  };
  const endOthers = async (): Promise<void> => {
    requireData(await dashboardClient.POST('/api/auth/logout-others'));
    await reload();
    showToast('All other sessions ended.');
  };
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions" ref={heading} tabIndex={-1}>
        Sessions
      </h2>
      <p class="quiet">The browsers that are signed in to your account. End those that you don’t recognise.</p>
      <AsyncContent from={sessions}>
        {(list) => (
          <>
            <ul class="things">
              {list.map((session) => (
                <SessionRow key={session.id} session={session} onEnded={reload} />
              ))}
            </ul>
            {list.length > 1 && (
              <ConfirmButton class="danger" question="End all other sessions?" onAct={endOthers}>
                End all other sessions
              </ConfirmButton>
            )}
          </>
        )}
      </AsyncContent>
    </section>
  );
}

interface SessionRowProps {
  readonly session: Session;
  readonly onEnded: () => Promise<void>;
}

function SessionRow({ session, onEnded }: SessionRowProps) {
  const { id, browser = 'Unknown browser', createdAt, lastUsedAt, isCurrent } = session;
  const signedIn = formatDateTime(createdAt);
  const end = async (): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/auth/sessions/{id}', { params: { path: { id } } }));
    await onEnded();
    showToast(`Session of ${browser} ended.`);
  };
  return (
    <li>
      <div>
        {browser}
        {isCurrent && <strong> · this session</strong>}
        <small>
          signed in {signedIn}
          {lastUsedAt !== undefined && ` · last used ${formatDateTime(lastUsedAt)}`}
        </small>
      </div>
      {!isCurrent && (
        <ConfirmButton
          class="danger"
          label={`End the session of ${browser}, signed in ${signedIn}`}
          question="End session?"
          onAct={end}
        >
          End
        </ConfirmButton>
      )}
    </li>
  );
}
