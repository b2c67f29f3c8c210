import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Field } from '../ui/fields.js';
import { Form, FormError } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';
import { createBrowserKeyCheck } from './known-keys.js';
import { ConsumerPicker, findOwnPublicKey, ReadableChoice } from './recipients.js';
import { useSealingError } from './sealing-message.js';
import { SecretField, type SecretInput } from './secret-field.js';
import { SecretsLayout } from './secrets-layout.js';
import { linkToSecret, secretsClient, SLUG_PATTERN } from './secrets.js';

/** A comma-separated list of `Tag` values of the contract. The server converts upper case to lower case. */
const TAGS_PATTERN = '\\s*([A-Za-z0-9._\\/\\-]{1,32}\\s*(,\\s*|$))*';

/** The form that creates a secret. It seals the value in this browser and sends only the sealed value. */
export function NewSecretPage() {
  const { route } = useLocation();
  const [slug, setSlug] = useState('');
  const [value, setValue] = useState<SecretInput>('');
  const [description, setDescription] = useState('');
  const [tags, setTags] = useState('');
  const [days, setDays] = useState('');
  const [usedBy, setUsedBy] = useState<readonly string[]>([]);
  // Until the choice is made by hand, a value without other readers is readable by the owner.
  const [chosenReadable, setReadable] = useState<boolean>();
  const isReadable = chosenReadable ?? usedBy.length === 0;
  const [problem, create] = useSealingError(async () => {
    // Loaded on demand, as most visits seal nothing.
    const { putSecret } = await import('../../../sealing/put-secret.js');
    await putSecret(secretsClient, {
      slug,
      value,
      usedBy,
      keepReadableCopy: isReadable && (await findOwnPublicKey()) !== undefined,
      checkKeys: createBrowserKeyCheck(),
      tags: tags
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
      ...(description !== '' && { description }),
      ...(days !== '' && { rotateAfterDays: Number(days) }),
    });
    setValue('');
    showToast(`Secret “${slug}” saved.`);
    route(linkToSecret({ slug }));
  });
  return (
    <SecretsLayout title="New secret">
      <p class="quiet">The value is encrypted in this browser before it is sent. The server can’t read it.</p>
      <Form verb="Save secret" onSave={create}>
        <Field
          label="Name"
          required
          maxLength={128}
          pattern={SLUG_PATTERN}
          hint="Letters, digits, - and _. Starts with a letter or digit."
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          value={slug}
          onValue={setSlug}
        />
        <SecretField label="Value" value={value} onValue={setValue} />
        <ConsumerPicker chosen={usedBy} onChosen={setUsedBy} />
        <ReadableChoice isChosen={isReadable} onChosen={setReadable} />
        <Field label="Description" maxLength={1000} value={description} onValue={setDescription} />
        <Field
          label="Tags"
          hint="Separated by commas. Each has 1 to 32 letters, digits, dots, slashes, - or _."
          pattern={TAGS_PATTERN}
          value={tags}
          onValue={setTags}
        />
        <Field label="Rotate every (days)" type="number" min={1} max={3650} value={days} onValue={setDays} />
        <FormError text={problem} />
      </Form>
    </SecretsLayout>
  );
}
