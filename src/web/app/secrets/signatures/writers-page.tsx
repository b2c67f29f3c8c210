import { useState } from 'preact/hooks';
import { ConfirmButton, CopyButton } from '../../ui/buttons.js';
import { Field, Form, FormError, useFormError } from '../../ui/form.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { showToast } from '../../ui/toasts.js';
import { createBrowserSigner, deleteBrowserSigner } from '../browser-keys.js';
import { SecretsLayout } from '../secrets-layout.js';
import type { Writer } from './trust.js';

const loadWriters = async () => (await import('./trust.js')).listTrustedWriters();

/** The signing key of this browser, and the writers whose signatures it trusts. */
export function WritersPage() {
  const writers = useResource(loadWriters);
  return (
    <SecretsLayout title="Writers">
      <p class="quiet">
        Everyone who can write to the service can encrypt a value to a consumer. Writers therefore sign the values that
        they store, and readers reject values of other writers.
      </p>
      <AsyncContent from={writers}>
        {({ own, trusted }) => (
          <>
            <h2>Signing key of this browser</h2>
            {own === undefined ? (
              <CreateSigningKey onChange={writers.reload} />
            ) : (
              <OwnKey own={own} onChange={writers.reload} />
            )}
            <h2>Trusted writers</h2>
            <TrustedWriters writers={trusted} own={own} onChange={writers.reload} />
          </>
        )}
      </AsyncContent>
      <section aria-labelledby="trust-writer">
        <h2 id="trust-writer">Trust a writer</h2>
        <TrustForm onChange={writers.reload} />
      </section>
    </SecretsLayout>
  );
}

interface ChangeProps {
  readonly onChange: () => Promise<void>;
}

function CreateSigningKey({ onChange }: ChangeProps) {
  const [name, setName] = useState('This browser');
  const [problem, create] = useFormError(async () => {
    const { publicKey } = await createBrowserSigner();
    const [{ nameWriter }, { formatSignerKey }] = await Promise.all([
      import('./trust.js'),
      import('../../../../sealing/ssh-signature.js'),
    ]);
    nameWriter(formatSignerKey(publicKey), name);
    await onChange();
    showToast('Signing key created.');
  });
  return (
    <>
      <p class="quiet">
        Values that you store here are not signed yet. The key is created in this browser and can’t be copied from it,
        also not by you. It is deleted with the data of this site.
      </p>
      <Form verb="Create signing key" onSave={create}>
        <Field label="Name of the key" required maxLength={64} value={name} onValue={setName} />
        <FormError problem={problem} />
      </Form>
    </>
  );
}

function OwnKey({ own, onChange }: ChangeProps & { readonly own: Writer }) {
  const command = `trellis secrets writers add '${own.key}'`;
  const remove = async (): Promise<void> => {
    await deleteBrowserSigner();
    await onChange();
    showToast('Signing key deleted. Values that it has signed stay valid.');
  };
  return (
    <>
      <p>
        {own.name ?? 'This browser'} (<code class="key">{own.fingerprint}</code>) signs the values that you store here.
      </p>
      <p class="quiet">On each machine that reads them, trust this key:</p>
      <pre class="commands" tabIndex={0}>
        {command}
      </pre>
      <div class="row wrapping">
        <CopyButton value={command} name="Copy command" />
        <CopyButton value={own.key} name="Copy public key" />
        <ConfirmButton class="danger" label="Delete signing key" question="Delete signing key" onAct={remove}>
          Delete
        </ConfirmButton>
      </div>
    </>
  );
}

interface TrustedProps extends ChangeProps {
  readonly writers: readonly Writer[];
  readonly own: Writer | undefined;
}

function TrustedWriters({ writers, own, onChange }: TrustedProps) {
  const remove = async (writer: Writer): Promise<void> => {
    (await import('./trust.js')).distrustWriter(writer);
    await onChange();
    showToast(`${writer.name ?? writer.fingerprint} is no longer trusted.`);
  };
  return (
    <>
      <p class="quiet">
        This browser trusts the first writer of each secret. A value with a trusted writer must be signed by it. The
        list is stored in this browser only.
      </p>
      {writers.length === 0 ? (
        <p>No trusted writers yet.</p>
      ) : (
        <ul class="things">
          {writers.map((writer) => (
            <li key={writer.key} class="consumer">
              <div>
                <strong>{writer.name ?? 'Unnamed writer'}</strong>
                {writer.key === own?.key && ' (key of this browser)'}
                <small>
                  <code>{writer.fingerprint}</code> · {writer.patterns.map(describePattern).join(', ')}
                </small>
              </div>
              <ConfirmButton
                class="danger"
                label={`Remove ${writer.name ?? writer.fingerprint}`}
                question="Trust no longer"
                onAct={() => remove(writer)}
              >
                Remove
              </ConfirmButton>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const describePattern = (pattern: string): string => (pattern === '*' ? 'all secrets' : pattern);

/** Names, or their starts with `*`, separated by commas. */
const PATTERNS = String.raw`\s*((\*|[A-Za-z0-9][A-Za-z0-9_\-]*\*?)\s*(,\s*|$))+`;

function TrustForm({ onChange }: ChangeProps) {
  const [name, setName] = useState('');
  const [key, setKey] = useState('');
  const [patterns, setPatterns] = useState('*');
  const [problem, save] = useFormError(async () => {
    const { trustWriter } = await import('./trust.js');
    await trustWriter({ key, name: name.trim(), patterns: patterns.split(',').flatMap((text) => text.trim() || []) });
    setName('');
    setKey('');
    await onChange();
    showToast('Writer trusted.');
  });
  return (
    <Form verb="Trust" onSave={save}>
      <Field label="Name" required maxLength={64} value={name} onValue={setName} />
      <Field
        label="Public key"
        hint="From “trellis secrets keygen”, or this page in a different browser."
        required
        maxLength={200}
        placeholder="ssh-ed25519 AAAA…"
        value={key}
        onValue={setKey}
      />
      <Field
        label="Names of secrets"
        hint="The writer may sign these, separated by commas. * stands for any rest: prod-*"
        required
        maxLength={1000}
        pattern={PATTERNS}
        value={patterns}
        onValue={setPatterns}
      />
      <FormError problem={problem} />
    </Form>
  );
}
