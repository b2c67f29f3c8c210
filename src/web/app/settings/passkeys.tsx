import { useState } from 'preact/hooks';
import type { components } from '../../../generated/dashboard/client.js';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { addPasskey } from '../passkeys.js';
import { ConfirmButton } from '../shell/confirm-button.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Loaded } from '../shell/loaded.js';
import { toDay } from '../shell/times.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';

type Credential = components['schemas']['Credential'];

const loadPasskeys = async () => requireAnswer(await dashboard.GET('/api/auth/credentials'));

export function Passkeys() {
  const passkeys = useResource(loadPasskeys);
  const [label, setLabel] = useState('');
  const remove = async ({ id, label: name }: Credential): Promise<void> => {
    requireAnswer(await dashboard.DELETE('/api/auth/credentials/{id}', { params: { path: { id } } }));
    await passkeys.reload();
    say(`The passkey “${name}” no longer signs you in.`);
  };
  const add = async (): Promise<void> => {
    await addPasskey(label);
    setLabel('');
    await passkeys.reload();
    say(`The passkey “${label}” signs you in from now on.`);
  };
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <Loaded from={passkeys}>
        {(list) => (
          <ul class="things">
            {list.map((passkey) => (
              <li key={passkey.id}>
                <div>
                  {passkey.label}
                  <small>since {toDay(passkey.createdAt)}</small>
                </div>
                <ConfirmButton
                  class="danger"
                  label={`Remove ${passkey.label}`}
                  question="Really remove?"
                  onAct={() => remove(passkey)}
                >
                  Remove
                </ConfirmButton>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <Form verb="Add a passkey" onSave={add}>
        <Field label="What to call it" required maxLength={100} autoComplete="off" value={label} onValue={setLabel} />
      </Form>
    </section>
  );
}
