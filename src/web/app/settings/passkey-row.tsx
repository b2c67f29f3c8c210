import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Menu } from '../shell/menu.js';
import { toDay } from '../shell/times.js';
import { say } from '../shell/toasts.js';

type Credential = components['schemas']['Credential'];

interface PasskeyRowProps {
  readonly passkey: Credential;
  readonly isLast: boolean;
  readonly onChanged: () => Promise<void>;
}

export function PasskeyRow({ passkey: { id, label, createdAt, lastUsedAt }, isLast, onChanged }: PasskeyRowProps) {
  const params = { path: { id } };
  const remove = async (): Promise<void> => {
    requireAnswer(await dashboard.DELETE('/api/auth/credentials/{id}', { params }));
    await onChanged();
    say(`Passkey “${label}” removed.`);
  };
  const rename = async (name: string): Promise<void> => {
    requireAnswer(await dashboard.PATCH('/api/auth/credentials/{id}', { params, body: { label: name } }));
    await onChanged();
    say(`Passkey “${label}” renamed to “${name}”.`);
  };
  return (
    <li>
      <div>
        {label}
        <small>
          added {toDay(createdAt)} · {lastUsedAt === undefined ? 'never used' : `last used ${toDay(lastUsedAt)}`}
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
