import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { Menu } from '../ui/menu.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';

type Credential = components['schemas']['Credential'];

interface PasskeyRowProps {
  readonly passkey: Credential;
  readonly isLast: boolean;
  readonly onChanged: () => Promise<void>;
}

export function PasskeyRow({ passkey: { id, label, createdAt, lastUsedAt }, isLast, onChanged }: PasskeyRowProps) {
  const params = { path: { id } };
  const remove = async (): Promise<void> => {
    requireData(await dashboardClient.DELETE('/api/auth/credentials/{id}', { params }));
    await onChanged();
    showToast(`Passkey “${label}” removed.`);
  };
  const rename = async (name: string): Promise<void> => {
    requireData(await dashboardClient.PATCH('/api/auth/credentials/{id}', { params, body: { label: name } }));
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
