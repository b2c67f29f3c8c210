import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Field, Form, FormError } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';
import { useFirstKey } from './identity/first-key.js';
import { linkToSecret, splitTags, SLUG_PATTERN, TAGS_PATTERN } from './names.js';
import { NewProgramField, type ProgramAccess, ProgramCommands, useProgramAccess } from './program-access.js';
import { ReaderPicker } from './recipients.js';
import { useSealingError } from './sealing-message.js';
import { SecretField, type SecretInput } from './secret-field.js';
import { SecretsLayout } from './secrets-layout.js';
import { copySecretly } from './value/clipboard.js';
import { ValueGenerator } from './value/generator.js';

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
    // Loaded on demand, as most visits seal nothing.
    const { storeSecret } = await import('./signatures/store-value.js');
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
                autoComplete="off"
                autoCapitalize="none"
                spellcheck={false}
                value={name}
                onValue={setName}
              />
              <SecretField label="Value" value={value} onValue={setValue} />
              <ValueGenerator onValue={setValue} />
              {typeof value === 'string' && value !== '' && (
                <p class="acts">
                  <button type="button" onClick={() => void copySecretly(value, 'The new value')}>
                    Copy without showing
                  </button>
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
