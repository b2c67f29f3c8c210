import { useRef, useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { addPasskey } from '../sign-in/sign-in.js';
import { ConfirmButton } from '../ui/buttons.js';
import { clearSent, Field, Form } from '../ui/form.js';
import { Menu } from '../ui/menu.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDate, formatDateTime } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';

const loadPasskeys = async () => requireData(await dashboardClient.GET('/api/auth/credentials'));

export function PasskeysSection() {
  const passkeys = useResource(loadPasskeys);
  const [label, setLabel] = useState('');
  const add = async (): Promise<void> => {
    await addPasskey(label);
    setLabel(clearSent(label));
    await passkeys.reload();
    showToast(`Passkey “${label}” added.`);
  };
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys" tabIndex={-1}>
        Passkeys
      </h2>
      <p class="quiet">Add at least two passkeys, on different devices, in case you lose one.</p>
      <AsyncContent from={passkeys}>
        {(list) => (
          <>
            <ul class="things">
              {list.map((passkey) => (
                <PasskeyRow key={passkey.id} passkey={passkey} isLast={list.length === 1} onChanged={passkeys.reload} />
              ))}
            </ul>
            {list.length === 1 && (
              <p class="quiet" id="last-passkey">
                You can’t remove your last passkey: you could no longer sign in.
              </p>
            )}
          </>
        )}
      </AsyncContent>
      <Form verb="Add a passkey" onSave={add}>
        <Field label="Passkey name" required maxLength={100} placeholder="phone" value={label} onValue={setLabel} />
      </Form>
    </section>
  );
}

type Credential = components['schemas']['Credential'];

interface PasskeyRowProps {
  readonly passkey: Credential;
  readonly isLast: boolean;
  readonly onChanged: () => Promise<void>;
}

function PasskeyRow({ passkey: { id, label, createdAt, lastUsedAt }, isLast, onChanged }: PasskeyRowProps) {
  const params = { path: { id } };
  const remove = async (): Promise<void> => {
    await changeEntry(onChanged, dashboardClient.DELETE('/api/auth/credentials/{id}', { params }));
    await onChanged();
    showToast(`Passkey “${label}” removed.`);
  };
  const rename = async (name: string): Promise<void> => {
    await changeEntry(
      onChanged,
      dashboardClient.PATCH('/api/auth/credentials/{id}', { params, body: { label: name } }),
    );
    await onChanged();
    showToast(`Passkey “${label}” renamed to “${name}”.`);
  };
  return (
    <li>
      <div>
        {label}
        <small>
          added {formatDate(createdAt)} ·{' '}
          {lastUsedAt === undefined ? 'never used' : `last used ${formatDate(lastUsedAt)}`}
        </small>
      </div>
      <div class="row">
        <Menu name="Rename" label={`Rename ${label}`}>
          {(close) => <Rename label={label} onRename={rename} onDone={close} />}
        </Menu>
        <ConfirmButton
          class="danger"
          label={`Remove ${label}`}
          question="Remove passkey?"
          disabled={isLast}
          reason={isLast ? 'last-passkey' : undefined}
          onAct={remove}
        >
          Remove
        </ConfirmButton>
      </div>
    </li>
  );
}

interface RenameProps {
  readonly label: string;
  readonly onRename: (name: string) => Promise<void>;
  readonly onDone: () => void;
}

function Rename({ label, onRename, onDone }: RenameProps) {
  const [name, setName] = useState(label);
  const save = async (): Promise<void> => {
    await onRename(name);
    onDone();
  };
  return (
    <Form verb="Save name" onSave={save}>
      <Field label="New name" required maxLength={100} value={name} onValue={setName} />
    </Form>
  );
}

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
