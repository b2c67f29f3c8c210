import { useState } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { addPasskey } from '../passkeys.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { AsyncContent } from '../ui/async-content.js';
import { showToast } from '../ui/toasts.js';
import { useResource } from '../ui/use-resource.js';
import { PasskeyRow } from './passkey-row.js';

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
