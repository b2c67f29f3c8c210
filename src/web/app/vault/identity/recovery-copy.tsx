import { useEffect, useMemo, useState } from 'preact/hooks';
import { Form } from '../../shell/form.js';
import { say } from '../../shell/toasts.js';
import { Problem } from '../../shell/problem.js';
import { useSealingProblem } from '../use-sealing-problem.js';
import { ValueField } from '../value-field.js';

interface RecoveryCopyProps {
  /** The identity wrapped by the phrase: an armored age file. */
  readonly recovery: string;
  readonly publicKey: string;
}

/** The way back without a passkey: kept beside the phrase, it works without this server too. */
export function RecoveryCopy({ recovery, publicKey }: RecoveryCopyProps) {
  const url = useMemo(() => URL.createObjectURL(new Blob([recovery], { type: 'text/plain' })), [recovery]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <>
      <p class="quiet">
        Your phrase opens this copy of your identity, here or with the program <code>age</code>:{' '}
        <code>age -d -i identity.age secret.age</code> asks for the phrase and opens a value that you downloaded.
      </p>
      <a class="button" href={url} download="identity.age">
        Save the copy
      </a>
      <TryPhrase recovery={recovery} publicKey={publicKey} />
    </>
  );
}

/** Better found out today than on the day that it is needed. */
function TryPhrase({ recovery, publicKey }: RecoveryCopyProps) {
  const [text, setText] = useState('');
  const [problem, tryIt] = useSealingProblem(async () => {
    const [{ parsePhrase }, { unwrapByPhrase }] = await Promise.all([import('./phrase.js'), import('./wrapping.js')]);
    const identity = await unwrapByPhrase(recovery, parsePhrase(text));
    if (identity.publicKey !== publicKey) throw new Error('The phrase opens another identity than the one in use.');
    setText('');
    say('The phrase opens your identity.');
  });
  return (
    <details class="fold">
      <summary>Try the phrase</summary>
      <Form verb="Try it" onSave={tryIt}>
        <ValueField label="The 24 words" value={text} onValue={setText} />
        <Problem text={problem} />
      </Form>
    </details>
  );
}
