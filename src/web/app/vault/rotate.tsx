import { useEffect, useRef, useState } from 'preact/hooks';
import { secrets } from './client.js';
import { Form } from '../shell/form.js';
import { say } from '../shell/toasts.js';
import { loadOwnKey, ReadableChoice } from './readable-choice.js';
import { Problem } from '../shell/problem.js';
import { useSealingProblem } from './use-sealing-problem.js';
import { createKeyCheck } from './known-keys.js';
import { ConsumerPicker } from './consumer-picker.js';
import type { ObjectMetadata } from './objects.js';
import { SecretField } from './secret-field.js';
import type { SecretInput } from './secret-field.js';

interface RotateProps {
  readonly object: ObjectMetadata;
  readonly onChange: () => Promise<void>;
}

/** Takes a new value, seals it to the keys that the consumers have now, and replaces the one before. */
export function Rotate({ object, onChange }: RotateProps) {
  const [value, setValue] = useState<SecretInput>('');
  const [usedBy, setUsedBy] = useState<readonly string[]>(object.used_by ?? []);
  const fold = useRef<HTMLDetailsElement>(null);
  const [isReadable, setReadable] = useState(false);
  useEffect(() => {
    // As the value before: whoever could read it expects to read the next one.
    void loadOwnKey().then((key) => setReadable(key !== undefined && object.recipients?.includes(key) === true));
  }, [object.recipients]);
  const [problem, rotate] = useSealingProblem(async () => {
    const { replaceSecret } = await import('../../../sealing/put-secret.js');
    const { slug, id, etag } = object;
    const checkKeys = createKeyCheck(object);
    await replaceSecret(secrets, { slug, id, etag, value, usedBy, keepReadableCopy: isReadable, checkKeys });
    setValue('');
    await onChange();
    fold.current?.removeAttribute('open');
    fold.current?.querySelector('summary')?.focus();
    say(`“${slug}” has a new value; the one before is kept as a version.`);
  });
  return (
    <details ref={fold} class="fold">
      <summary>Replace the value</summary>
      <Form verb="Seal and replace" onSave={rotate}>
        <SecretField label="New value" value={value} onValue={setValue} />
        <ConsumerPicker chosen={usedBy} onChosen={setUsedBy} />
        <ReadableChoice isChosen={isReadable} onChosen={setReadable} />
        <Problem text={problem} />
      </Form>
    </details>
  );
}
