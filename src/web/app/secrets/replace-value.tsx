import { useEffect, useRef, useState } from 'preact/hooks';
import { secretsClient } from './client.js';
import { Form } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';
import { findOwnPublicKey, ReadableChoice } from './readable-choice.js';
import { FormError } from '../ui/form-error.js';
import { useSealingError } from './use-sealing-error.js';
import { createBrowserKeyCheck } from './known-keys.js';
import { ConsumerPicker } from './consumer-picker.js';
import type { ObjectMetadata } from './secrets.js';
import { SecretField } from './secret-field.js';
import type { SecretInput } from './secret-field.js';

interface RotateProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

/** The form that replaces a value. The new value is sealed to the current keys of the consumers. */
export function ReplaceValue({ object, onChange }: RotateProps) {
  const [value, setValue] = useState<SecretInput>('');
  const [usedBy, setUsedBy] = useState<readonly string[]>(object.used_by ?? []);
  const fold = useRef<HTMLDetailsElement>(null);
  const [isReadable, setReadable] = useState(false);
  useEffect(() => {
    // An owner who could read the previous value expects to read the new one.
    void findOwnPublicKey().then((key) => setReadable(key !== undefined && object.recipients?.includes(key) === true));
  }, [object.recipients]);
  const [problem, rotate] = useSealingError(async () => {
    const { replaceSecret } = await import('../../../sealing/put-secret.js');
    const { slug, id, etag } = object;
    const checkKeys = createBrowserKeyCheck(object);
    await replaceSecret(secretsClient, { slug, id, etag, value, usedBy, keepReadableCopy: isReadable, checkKeys });
    setValue('');
    await onChange();
    fold.current?.removeAttribute('open');
    fold.current?.querySelector('summary')?.focus();
    showToast(`Value of “${slug}” replaced. The previous value is in the version history.`);
  });
  return (
    <details ref={fold} class="fold">
      <summary>Replace value</summary>
      <Form verb="Save new value" onSave={rotate}>
        <SecretField label="New value" value={value} onValue={setValue} />
        <ConsumerPicker chosen={usedBy} onChosen={setUsedBy} />
        <ReadableChoice isChosen={isReadable} onChosen={setReadable} />
        <FormError text={problem} />
      </Form>
    </details>
  );
}
