import { useLocation } from 'preact-iso';
import { useRef, useState } from 'preact/hooks';
import { toVariable } from '../../../sealing/env-names.js';
import { requireData } from '../api.js';
import { publicOrigin } from '../page-data.js';
import { ActionButton, CopyButton } from '../ui/buttons.js';
import { Field, Form, FormError } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';
import { rememberKeys } from './browser-keys.js';
import { StepHeading, useFirstKey } from './identity/create-key.js';
import type { Identity } from './identity/wrapping.js';
import { type ConsumerEntry, linkToSecret, SLUG_PATTERN, splitTags, TAGS_PATTERN } from './metadata.js';
import { copySecretly, SecretsLayout } from './secrets-layout.js';
import { listAllConsumers, secretsClient, useSealingError } from './secrets.js';
import { loadStoredValues } from './signatures/load-stored-values.js';
import { ReaderPicker, SecretField, type SecretInput, ValueGenerator } from './value-fields.js';

/** The form that creates a secret. It seals the value in this browser and sends only the sealed value. */
export function NewSecretPage() {
  const { query, route } = useLocation();
  const [name, setName] = useState('');
  const slug = name.trim();
  const [value, setValue] = useState<SecretInput>('');
  const [description, setDescription] = useState('');
  const [tags, setTags] = useState('');
  const [days, setDays] = useState('');
  const [usedBy, setUsedBy] = useState<readonly string[]>([]);
  const [program, setProgram] = useState(query.program ?? '');
  const [access, setAccess] = useState<ProgramAccess>();
  // Until the choice is made by hand, a value without other readers is readable by the owner.
  const [chosenReadable, setReadable] = useState<boolean>();
  const newConsumer = program.trim();
  const isReadable = chosenReadable ?? (usedBy.length === 0 && newConsumer === '');
  const { ensureKey, steps } = useFirstKey();
  const createAccess = useProgramAccess();
  const [problem, create] = useSealingError(async () => {
    if (isReadable && !(await ensureKey())) return;
    const created = newConsumer === '' ? undefined : await createAccess(newConsumer);
    const { storeSecret } = await loadStoredValues();
    await storeSecret({
      slug,
      value,
      usedBy: created === undefined ? usedBy : [...new Set([...usedBy, created.consumer])],
      keepReadableCopy: isReadable,
      tags: splitTags(tags),
      ...(description !== '' && { description }),
      ...(days !== '' && { rotateAfterDays: Number(days) }),
    });
    setValue('');
    showToast(`Secret “${slug}” saved.`);
    if (created === undefined) route(linkToSecret({ slug }));
    else setAccess(created);
  });
  if (access !== undefined) {
    return (
      <SecretsLayout title="New secret">
        <ProgramCommands access={access} slug={slug} />
      </SecretsLayout>
    );
  }
  return (
    <SecretsLayout title="New secret">
      {steps}
      <div class="secret-form" hidden={steps !== undefined}>
        <p class="quiet">
          The value is encrypted in this browser before it is sent. The server can’t read it. Many values at once:{' '}
          <a href="/vault/import">import a .env file</a>.
        </p>
        <Form verb="Save secret" onSave={create}>
          <div class="columns">
            <div>
              <Field
                label="Name"
                required
                maxLength={128}
                pattern={SLUG_PATTERN}
                hint="Letters, digits, - and _. Starts with a letter or digit."
                autoCapitalize="none"
                spellcheck={false}
                value={name}
                onValue={setName}
              />
              <SecretField label="Value" value={value} onValue={setValue} />
              <ValueGenerator onValue={setValue} />
              {typeof value === 'string' && value !== '' && (
                <p class="acts">
                  <ActionButton onAct={() => copySecretly(value, 'The new value')}>Copy without showing</ActionButton>
                </p>
              )}
            </div>
            <div>
              <ReaderPicker {...{ usedBy, isReadable }} onUsedBy={setUsedBy} onReadable={setReadable} canCreate>
                {(hasConsumers) => <NewProgramField value={program} onValue={setProgram} isOpen={!hasConsumers} />}
              </ReaderPicker>
              <Field label="Description" maxLength={1000} value={description} onValue={setDescription} />
              <Field
                label="Tags"
                hint="Separated by commas. Each has 1 to 32 letters, digits, dots, slashes, - or _."
                pattern={TAGS_PATTERN}
                value={tags}
                onValue={setTags}
              />
              <Field label="Rotate every (days)" type="number" min={1} max={3650} value={days} onValue={setDays} />
            </div>
          </div>
          <FormError problem={problem} />
        </Form>
      </div>
    </SecretsLayout>
  );
}

/** The credentials of a new consumer, which exist only in this page. */
interface ProgramAccess {
  readonly consumer: string;
  readonly identity: string;
  readonly token: string;
}

/** The lifetime of the token of a new program. */
const TOKEN_DAYS = 90;

/**
 * Returns a function that registers a consumer with a new key pair and creates its token. After a failure, also of the
 * secret, it continues with the same key pair and token: the server may have stored what it did not respond to.
 */
function useProgramAccess(): (consumer: string) => Promise<ProgramAccess> {
  const pairs = useRef(new Map<string, Identity>());
  const made = useRef(new Map<string, ProgramAccess>());
  return async (consumer) => {
    const known = made.current.get(consumer);
    if (known !== undefined) return known;
    // Loaded on demand, as most visits create no key.
    const { generateOwnerIdentity } = await import('./identity/wrapping.js');
    const pair = pairs.current.get(consumer) ?? (await generateOwnerIdentity());
    pairs.current.set(consumer, pair);
    await register(consumer, pair.publicKey);
    const body = { consumer, description: 'created with its first secret', ttl_seconds: TOKEN_DAYS * 86_400 };
    const { value } = requireData(await secretsClient.POST('/consumer-tokens', { body }));
    const access = { consumer, identity: pair.secret, token: value };
    made.current.set(consumer, access);
    return access;
  };
}

/** Registers a consumer, unless an earlier attempt has done it. */
async function register(name: string, publicKey: string): Promise<void> {
  const result = await secretsClient.POST('/consumers', { body: { name, public_key: publicKey } });
  const isOwn = (one: ConsumerEntry): boolean => one.name === name && one.public_key === publicKey;
  if (result.response.status !== 409 || !(await listAllConsumers()).some(isOwn)) requireData(result);
  rememberKeys([{ consumer: name, publicKey }]);
}

interface ProgramFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly isOpen: boolean;
}

/** The field for a program that gets its key pair and its token together with the secret. */
function NewProgramField({ value, onValue, isOpen }: ProgramFieldProps) {
  return (
    <details class="fold" open={isOpen || value !== '' ? true : undefined}>
      <summary>Give a new program access</summary>
      <Field
        label="Program or host"
        maxLength={128}
        placeholder="acme/shop"
        hint="Its key pair and token are created when you save, and shown once. A host that has a key pair is added under Consumers."
        autoCapitalize="none"
        spellcheck={false}
        value={value}
        onValue={onValue}
      />
    </details>
  );
}

interface AccessProps {
  readonly access: ProgramAccess;
  readonly slug: string;
}

/** The commands that run a program with the new secret. They contain the credentials, which are shown once. */
function ProgramCommands({ access: { consumer, identity, token }, slug }: AccessProps) {
  const text = `export TRELLIS_SECRETS_SERVER=${publicOrigin}/secrets
export TRELLIS_SECRETS_TOKEN=${token}
export TRELLIS_SECRETS_IDENTITY=${identity}
trellis secrets run -- printenv ${toVariable(slug)}`;
  return (
    <section aria-label="Commands">
      <StepHeading>Use it in a program</StepHeading>
      <p>
        <bdi>{consumer}</bdi> reads the secret as the variable <code>{toVariable(slug)}</code>. Replace{' '}
        <code>printenv …</code> by your program.
      </p>
      <pre class="commands" tabIndex={0} role="region" aria-label="Commands for a terminal">
        <code>{text}</code>
      </pre>
      <p class="acts">
        <CopyButton value={text} what="the commands" />
        <a class="button" href={linkToSecret({ slug })}>
          Show the secret
        </a>
      </p>
      <p class="problem">
        The token and the private key are shown only now. Store them where <bdi>{consumer}</bdi> runs. The token expires
        in {TOKEN_DAYS} days.
      </p>
    </section>
  );
}
