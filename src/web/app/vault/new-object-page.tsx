import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { secrets } from '../clients.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { say } from '../shell/toasts.js';
import { ConsumerPicker } from './consumer-picker.js';
import { linkTo } from './objects.js';
import { ValueField } from './value-field.js';
import { VaultFrame } from './vault-frame.js';

/** Seals a value in this browser, and sends what is sealed. */
export function NewObjectPage() {
  const { route } = useLocation();
  const [slug, setSlug] = useState('');
  const [value, setValue] = useState('');
  const [description, setDescription] = useState('');
  const [tags, setTags] = useState('');
  const [days, setDays] = useState('');
  const [usedBy, setUsedBy] = useState<readonly string[]>([]);
  const [isReadable, setReadable] = useState(false);
  const create = async (): Promise<void> => {
    // Loaded here, as other pages have nothing to seal.
    const { putSecret } = await import('../../../sealing/put-secret.js');
    await putSecret(secrets, {
      slug,
      value,
      usedBy,
      keepReadableCopy: isReadable,
      tags: tags
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
      ...(description !== '' && { description }),
      ...(days !== '' && { rotateAfterDays: Number(days) }),
    });
    setValue('');
    say(`“${slug}” is sealed and stored.`);
    route(linkTo({ slug }));
  };
  return (
    <VaultFrame title="New secret">
      <p class="quiet">The value is sealed in this browser. The server gets what nobody but its readers can open.</p>
      <Form verb="Seal and store" onSave={create}>
        <Field
          label="Name"
          required
          maxLength={128}
          pattern="[A-Za-z0-9][A-Za-z0-9_-]*"
          hint="Letters, digits, - and _; the first a letter or digit."
          autoComplete="off"
          autoCapitalize="none"
          spellcheck={false}
          value={slug}
          onValue={setSlug}
        />
        <ValueField label="Value" value={value} onValue={setValue} />
        <ConsumerPicker chosen={usedBy} onChosen={setUsedBy} />
        <label class="choice">
          <input
            type="checkbox"
            checked={isReadable}
            onChange={({ currentTarget }) => setReadable(currentTarget.checked)}
          />
          Seal it to my own key too, so that I can read it
        </label>
        <Field label="What it is for" maxLength={1000} value={description} onValue={setDescription} />
        <Field label="Tags" hint="Separated by commas." value={tags} onValue={setTags} />
        <Field label="Due for rotation after days" type="number" min={1} max={3650} value={days} onValue={setDays} />
      </Form>
    </VaultFrame>
  );
}
