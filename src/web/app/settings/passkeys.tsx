import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { dashboardClient, requireData } from '../api.js';
import { addPasskey } from '../passkeys.js';
import { ConfirmButton } from '../ui/buttons.js';
import { Field, Form } from '../ui/form.js';
import { Menu } from '../ui/menu.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';

const loadPasskeys = async () => requireData(await dashboardClient.GET('/api/auth/credentials'));

export function PasskeysSection() {
  const passkeys = useResource(loadPasskeys);
  const [label, setLabel] = useState('');
  const add = async (): Promise<void> => {
    await addPasskey(label);
    setLabel('');
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
        <Field
          label="Passkey name"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="phone"
          value={label}
          onValue={setLabel}
        />
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
      <Field label="New name" required maxLength={100} autoComplete="off" value={name} onValue={setName} />
    </Form>
  );
}
