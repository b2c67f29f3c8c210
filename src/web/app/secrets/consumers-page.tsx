import { useState } from 'preact/hooks';
import { requireData } from '../api.js';
import { ConfirmButton } from '../ui/buttons.js';
import { clearSent, Field, Form } from '../ui/form.js';
import { AsyncContent, changeEntry, useResource } from '../ui/resource.js';
import { showToast } from '../ui/toasts.js';
import { rememberKeys } from './browser-keys.js';
import { type ConsumerEntry, linkToConsumer } from './metadata.js';
import { SecretsLayout } from './secrets-layout.js';
import { listAllConsumers, secretsClient } from './secrets.js';

const toParams = ({ name }: ConsumerEntry) => ({ params: { path: { name } } });

export function ConsumersPage() {
  const consumers = useResource(listAllConsumers);
  const [typed, setTyped] = useState('');
  const [key, setKey] = useState('');
  const add = async (): Promise<void> => {
    const name = typed.trim();
    const body = { name, ...(key !== '' && { public_key: key.trim() }) };
    requireData(await secretsClient.POST('/consumers', { body }));
    if (key !== '') rememberKeys([{ consumer: name, publicKey: key.trim() }]);
    setTyped(clearSent(typed));
    setKey(clearSent(key));
    await consumers.reload();
    showToast(`Consumer “${name}” added.`);
  };
  return (
    <SecretsLayout title="Consumers">
      <p class="quiet">
        Consumers are repositories and hosts that read secrets. Values are encrypted to their public keys.
      </p>
      <AsyncContent from={consumers}>
        {(list) => <Directory consumers={list} onChange={consumers.reload} />}
      </AsyncContent>
      <section aria-labelledby="add-consumer">
        <h2 id="add-consumer">Add a consumer</h2>
        <Form verb="Add" onSave={add}>
          <Field label="Name" required maxLength={128} placeholder="acme/shop" value={typed} onValue={setTyped} />
          <Field label="Public key" maxLength={4096} placeholder="age1…" value={key} onValue={setKey} />
        </Form>
      </section>
    </SecretsLayout>
  );
}

interface DirectoryProps {
  readonly consumers: readonly ConsumerEntry[];
  readonly onChange: () => Promise<void>;
}

/** A list of more rows is hard to scan; the search finds the other consumers. */
const MAX_SHOWN = 100;

function Directory({ consumers, onChange }: DirectoryProps) {
  const [text, setText] = useState('');
  const [isKeyless, setKeyless] = useState(false);
  const searched = text.trim().toLowerCase();
  const found = consumers.filter(
    ({ name, public_key }) => name.toLowerCase().includes(searched) && !(isKeyless && public_key !== undefined),
  );
  if (consumers.length === 0) return <p>No consumers yet.</p>;
  return (
    <>
      <form role="search" aria-label="Filter consumers" class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="selects">
          <label class="search">
            Search consumers
            <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
          </label>
          <label class="choice">
            <input
              type="checkbox"
              checked={isKeyless}
              onChange={({ currentTarget }) => setKeyless(currentTarget.checked)}
            />
            Missing a key
          </label>
        </div>
      </form>
      <p class="quiet" role="status">
        {Math.min(found.length, MAX_SHOWN)} of {consumers.length} shown
      </p>
      <ul class="things">
        {found.slice(0, MAX_SHOWN).map((consumer) => (
          <Consumer key={consumer.name} consumer={consumer} onChange={onChange} />
        ))}
      </ul>
    </>
  );
}

interface ConsumerProps {
  readonly consumer: ConsumerEntry;
  readonly onChange: () => Promise<void>;
}

function Consumer({ consumer, onChange }: ConsumerProps) {
  const { name, secret_count, public_key } = consumer;
  const [typedName, setTypedName] = useState(name);
  // Only a typed key is sent: another tab may have replaced the one that was shown.
  const [typedKey, setTypedKey] = useState<string>();
  const save = async (): Promise<void> => {
    const newName = typedName.trim();
    const key = typedKey?.trim() ?? '';
    const isNewKey = key !== '' && key !== public_key;
    const body = { ...(newName !== name && { name: newName }), ...(isNewKey && { public_key: key }) };
    await changeEntry(onChange, secretsClient.PATCH('/consumers/{name}', { ...toParams(consumer), body }));
    if (isNewKey) rememberKeys([{ consumer: newName, publicKey: key }]);
    setTypedKey(undefined);
    await onChange();
    showToast(`Consumer “${newName}” saved.`);
  };
  const remove = async (): Promise<void> => {
    await changeEntry(onChange, secretsClient.DELETE('/consumers/{name}', toParams(consumer)));
    await onChange();
    showToast(`Consumer “${name}” deleted. Its secrets remain.`);
  };
  return (
    <li class="consumer">
      <div>
        <strong>{name}</strong>
        <small>
          {secret_count === 0 ? (
            'no secrets'
          ) : (
            <a href={linkToConsumer(name)}>
              {secret_count} {secret_count === 1 ? 'secret' : 'secrets'}
            </a>
          )}{' '}
          · {public_key === undefined ? 'no public key yet' : <code>{public_key}</code>}
        </small>
      </div>
      <ConfirmButton class="danger" label={`Delete ${name}`} question="Delete consumer" onAct={remove}>
        Delete
      </ConfirmButton>
      <details class="fold">
        <summary aria-label={`Edit ${name}`}>Edit</summary>
        <Form verb="Save" onSave={save}>
          <Field
            label="Name"
            hint="An existing name merges the two consumers."
            required
            maxLength={128}
            value={typedName}
            onValue={setTypedName}
          />
          <Field label="Public key" maxLength={4096} value={typedKey ?? public_key ?? ''} onValue={setTypedKey} />
        </Form>
      </details>
    </li>
  );
}
