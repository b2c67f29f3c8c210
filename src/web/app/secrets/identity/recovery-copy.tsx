import { useEffect, useMemo, useState } from 'preact/hooks';
import { Form } from '../../ui/form.js';
import { showToast } from '../../ui/toasts.js';
import { FormError } from '../../ui/form-error.js';
import { useSealingError } from '../use-sealing-error.js';
import { ValueField } from '../value-field.js';

interface RecoveryCopyProps {
  /** The identity, wrapped with the phrase: an armored age file. */
  readonly recovery: string;
  readonly publicKey: string;
}

/**
 * Offers the wrapped identity as a download. With the phrase it decrypts values without a passkey and without this
 * server.
 */
export function RecoveryCopy({ recovery, publicKey }: RecoveryCopyProps) {
  const url = useMemo(() => URL.createObjectURL(new Blob([recovery], { type: 'text/plain' })), [recovery]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <>
      <p class="quiet">
        Your phrase decrypts this copy of your key, here or with the <code>age</code> program:{' '}
        <code>age -d -i identity.age secret.age</code> asks for the phrase and decrypts a downloaded value.
      </p>
      <a class="button" href={url} download="identity.age">
        Download copy
      </a>
      <TryPhrase recovery={recovery} publicKey={publicKey} />
    </>
  );
}

/** Lets the user test the phrase before it is needed. */
function TryPhrase({ recovery, publicKey }: RecoveryCopyProps) {
  const [text, setText] = useState('');
  const [problem, test] = useSealingError(async () => {
    const [{ parsePhrase }, { unwrapWithPhrase }] = await Promise.all([import('./phrase.js'), import('./wrapping.js')]);
    const identity = await unwrapWithPhrase(recovery, parsePhrase(text));
    if (identity.publicKey !== publicKey) throw new Error('This phrase belongs to a different key.');
    setText('');
    showToast('This phrase unlocks your key.');
  });
  return (
    <details class="fold">
      <summary>Test the phrase</summary>
      <Form verb="Test" onSave={test}>
        <ValueField label="Recovery phrase (24 words)" value={text} onValue={setText} />
        <FormError text={problem} />
      </Form>
    </details>
  );
}
