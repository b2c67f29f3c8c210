import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { ActionButton } from '../../ui/action-button.js';
import { Form } from '../../ui/form.js';
import { AsyncContent } from '../../ui/async-content.js';
import { useResource } from '../../ui/use-resource.js';
import { FormError } from '../../ui/form-error.js';
import { useSealingError } from '../use-sealing-error.js';
import { ValueField } from '../value-field.js';
import { loadOwnerKeys } from './owner-keys.js';
import type { OwnerKeyData, StoredPasskey } from './owner-keys.js';
import type { Identity } from './wrapping.js';

interface UnlockProps {
  /** A sentence that explains why the identity is needed. */
  readonly children: ComponentChildren;
  readonly onIdentity: (identity: Identity) => Promise<void>;
}

/**
 * Asks for the owner's identity: by a passkey, by the recovery phrase or by pasting it. The identity goes to the caller
 * only, neither to browser storage nor into a request.
 */
export function Unlock({ children, onIdentity }: UnlockProps) {
  const keys = useResource(loadOwnerKeys);
  const [problem, unlock] = useSealingError(async (find: () => Promise<Identity>) => onIdentity(await find()));
  return (
    <section class="unlock" aria-label="Unlock your key">
      <p>{children}</p>
      <AsyncContent from={keys}>
        {({ passkeys, recovery, publicKey }) => (
          <>
            {publicKey === undefined && (
              <p>
                You don’t have a key yet. <a href="/vault/identity">Create your key</a>, or paste an identity that the
                value is encrypted to.
              </p>
            )}
            <div class="row wrapping">{passkeys.map((passkey) => byPasskey(passkey, unlock))}</div>
            {recovery !== undefined && <ByPhrase recovery={recovery} unlock={unlock} />}
            <ByPasting unlock={unlock} />
          </>
        )}
      </AsyncContent>
      <FormError text={problem} />
    </section>
  );
}

type UnlockBy = (find: () => Promise<Identity>) => Promise<void>;

function byPasskey({ id, nickname, wrapped_identity: wrapped }: StoredPasskey, unlock: UnlockBy) {
  if (wrapped === undefined) return null;
  const act = () => unlock(async () => (await import('./wrapping.js')).unwrapWithPasskey(wrapped, id));
  return (
    <ActionButton key={id} class="main" onAct={act}>
      Use the passkey “{nickname}”
    </ActionButton>
  );
}

interface ByPhraseProps {
  readonly recovery: NonNullable<OwnerKeyData['recovery']>;
  readonly unlock: UnlockBy;
}

function ByPhrase({ recovery, unlock }: ByPhraseProps) {
  const [text, setText] = useState('');
  const open = () =>
    unlock(async () => {
      const [{ parsePhrase }, { unwrapWithPhrase }] = await Promise.all([
        import('./phrase.js'),
        import('./wrapping.js'),
      ]);
      return unwrapWithPhrase(recovery, parsePhrase(text));
    });
  return (
    <details class="fold">
      <summary>Use the recovery phrase</summary>
      <Form verb="Unlock with phrase" onSave={open}>
        <ValueField label="Recovery phrase (24 words)" value={text} onValue={setText} />
      </Form>
    </details>
  );
}

function ByPasting({ unlock }: { readonly unlock: UnlockBy }) {
  const [text, setText] = useState('');
  const open = () => unlock(async () => (await import('./wrapping.js')).parseIdentity(text));
  return (
    <details class="fold">
      <summary>Paste an identity</summary>
      <p class="quiet">It stays in this page, and is discarded when you leave it.</p>
      <Form verb="Unlock with identity" onSave={open}>
        <ValueField label="Identity (AGE-SECRET-KEY-1…)" value={text} onValue={setText} />
      </Form>
    </details>
  );
}
