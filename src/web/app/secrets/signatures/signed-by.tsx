import { useCallback, useState } from 'preact/hooks';
import { ActionButton, ConfirmButton } from '../../ui/buttons.js';
import { FormError } from '../../ui/form.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { formatDateTime } from '../../ui/times.js';
import { showToast } from '../../ui/toasts.js';
import { findBrowserSigner } from '../browser-keys.js';
import type { ObjectMetadata, ObjectVersion } from '../metadata.js';
import { useSealingError } from '../secrets.js';
import { loadStoredValues } from './load-stored-values.js';
import type { SignatureState } from './trust.js';

interface SignedByProps {
  readonly object: ObjectMetadata;
  /** A previous value; otherwise the current one. */
  readonly previous?: ObjectVersion;
  readonly onChange: () => Promise<void>;
}

interface Loaded {
  readonly state: SignatureState;
  readonly hasKey: boolean;
}

/**
 * The writer of a value by its signature. The signature is compared with the name, number and recipients of the value at
 * once; with its bytes when the user requests it or opens the value, as the audit log records each read of them.
 */
export function SignedBy({ object, previous, onChange }: SignedByProps) {
  const { slug } = object;
  const load = useCallback(async (): Promise<Loaded> => {
    const { readSignatureState } = await import('./trust.js');
    const [state, hasKey] = await Promise.all([readSignatureState(object, previous), hasSigningKey()]);
    return { state, hasKey };
  }, [object, previous]);
  const loaded = useResource(load);
  const { signature } = previous ?? object;
  // A new signature has not been verified.
  const [verified, setVerified] = useState<string>();
  const isVerified = verified !== undefined && verified === signature;
  const [problem, verify] = useSealingError(async () => {
    const { readCheckedValue } = await import('./trust.js');
    await readCheckedValue(object, previous);
    setVerified(signature);
    await loaded.reload();
  });
  const sign = async (): Promise<void> => {
    const { signStoredValue } = await loadStoredValues();
    await signStoredValue(object);
    await onChange();
    showToast(`Value of “${slug}” signed.`);
  };
  const what = previous === undefined ? slug : `version ${previous.version}`;
  const trust = async ({ signer = '' }: SignatureState): Promise<void> => {
    const { trustWriter } = await import('./trust.js');
    await trustWriter({ key: signer, patterns: [slug] });
    await loaded.reload();
    showToast(`The writer of ${what} is trusted now.`);
  };
  return (
    <div class="signature">
      <AsyncContent from={loaded}>
        {({ state, hasKey }) => (
          <>
            <SignatureText state={state} isVerified={isVerified} />
            <div class="row wrapping acts">
              {state.signer !== undefined && !isVerified && (
                <ActionButton aria-label={`Verify the value of ${what}`} onAct={verify}>
                  Verify
                </ActionButton>
              )}
              {state.kind === 'unknown' && (
                <ConfirmButton
                  label={`Trust the writer of ${what}`}
                  question="Trust this writer"
                  onAct={() => trust(state)}
                >
                  Trust
                </ConfirmButton>
              )}
              {state.kind !== 'trusted' && previous === undefined && hasKey && (
                <ConfirmButton label={`Sign ${slug}`} question="Sign the stored value" onAct={sign}>
                  Sign
                </ConfirmButton>
              )}
            </div>
          </>
        )}
      </AsyncContent>
      <FormError problem={problem} />
    </div>
  );
}

function SignatureText({ state, isVerified }: { readonly state: SignatureState; readonly isVerified: boolean }) {
  const { kind, name, fingerprint = '', time, problem, isRejected } = state;
  if (kind === 'invalid') return <span class="bad">Signature is not valid: {problem}.</span>;
  if (kind === 'not-signed') {
    if (!isRejected) return <span>Not signed</span>;
    return <span class="bad">Not signed, although this browser trusts a writer for this name.</span>;
  }
  const writer = (
    <>
      Signed by {name ?? (kind === 'unknown' ? 'an unknown writer' : 'a trusted writer')} (<code>{fingerprint}</code>)
    </>
  );
  if (isRejected) return <span class="bad">{writer}, and this browser trusts a different one for this name.</span>;
  return (
    <span>
      {writer}
      {time !== undefined && ` on ${formatDateTime(new Date(time).toISOString())}`}
      {isVerified && '. The value is the signed one.'}
    </span>
  );
}

const hasSigningKey = async (): Promise<boolean> => (await findBrowserSigner()) !== undefined;

/** Warns that a new value will not be signed, although the current one is. */
export function UnsignedNote({ object }: { readonly object: ObjectMetadata }) {
  const { value: hasKey } = useResource(hasSigningKey);
  if (object.signature === undefined || hasKey !== false) return null;
  return (
    <p class="notes">
      The current value is signed, but this browser has no signing key. Machines that trust the writer reject the new
      value until it is signed. <a href="/vault/writers">Create a signing key</a>
    </p>
  );
}
