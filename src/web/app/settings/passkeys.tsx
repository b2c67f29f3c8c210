import { useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { addPasskey } from '../passkeys.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Loaded } from '../shell/loaded.js';
import { say } from '../shell/toasts.js';
import { useResource } from '../shell/use-resource.js';
import { PasskeyRow } from './passkey-row.js';

const loadPasskeys = async () => requireAnswer(await dashboard.GET('/api/auth/credentials'));

export function Passkeys() {
  const passkeys = useResource(loadPasskeys);
  const [label, setLabel] = useState('');
  const add = async (): Promise<void> => {
    await addPasskey(label);
    setLabel('');
    await passkeys.reload();
    say(`The passkey “${label}” signs you in from now on.`);
  };
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys" tabIndex={-1}>
        Passkeys
      </h2>
      <p class="quiet">What signs you in. Have two, on different devices: one may be lost.</p>
      <Loaded from={passkeys}>
        {(list) => (
          <>
            <ul class="things">
              {list.map((passkey) => (
                <PasskeyRow key={passkey.id} passkey={passkey} isLast={list.length === 1} onChanged={passkeys.reload} />
              ))}
            </ul>
            {list.length === 1 && (
              <p class="quiet" id="last-passkey">
                The last passkey can’t be removed: without one nobody could sign in.
              </p>
            )}
          </>
        )}
      </Loaded>
      <Form verb="Add a passkey" onSave={add}>
        <Field
          label="What to call it"
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
