import { useState } from 'preact/hooks';
import { secrets } from '../clients.js';
import { Form } from '../shell/form.js';
import { say } from '../shell/toasts.js';
import { ConsumerPicker } from './consumer-picker.js';
import type { ObjectMetadata } from './objects.js';
import { ValueField } from './value-field.js';

interface RotateProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

/** Takes a new value, seals it to the keys that the consumers have now, and replaces the one before. */
export function Rotate({ object, onChange }: RotateProps) {
  const [value, setValue] = useState('');
  const [usedBy, setUsedBy] = useState<readonly string[]>(object.used_by ?? []);
  const [isReadable, setReadable] = useState(false);
  const rotate = async (): Promise<void> => {
    const { replaceSecret } = await import('../../../sealing/put-secret.js');
    const { slug, id } = object;
    await replaceSecret(secrets, { slug, id, value, usedBy, keepReadableCopy: isReadable });
    setValue('');
    await onChange();
    say(`“${slug}” has a new value; the one before is kept as a version.`);
  };
  return (
    <details>
      <summary>Replace the value</summary>
      <Form verb="Seal and replace" onSave={rotate}>
        <ValueField label="New value" value={value} onValue={setValue} />
        <ConsumerPicker chosen={usedBy} onChosen={setUsedBy} />
        <label class="choice">
          <input
            type="checkbox"
            checked={isReadable}
            onChange={({ currentTarget }) => setReadable(currentTarget.checked)}
          />
          Seal it to my own key too
        </label>
      </Form>
    </details>
  );
}
