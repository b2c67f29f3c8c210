import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { ActionButton } from '../../shell/action-button.js';
import { Form } from '../../shell/form.js';
import { Loaded } from '../../shell/loaded.js';
import { useResource } from '../../shell/use-resource.js';
import { Problem } from '../../shell/problem.js';
import { useSealingProblem } from '../use-sealing-problem.js';
import { ValueField } from '../value-field.js';
import { loadOwnerKeys } from './owner-keys.js';
import type { OwnerKeys, Passkey } from './owner-keys.js';
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
  const [problem, unlock] = useSealingProblem(async (find: () => Promise<Identity>) => onIdentity(await find()));
  return (
    <section class="unlock" aria-label="Unlock your key">
      <p>{children}</p>
      <Loaded from={keys}>
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
      </Loaded>
      <Problem text={problem} />
    </section>
  );
}

type UnlockBy = (find: () => Promise<Identity>) => Promise<void>;

function byPasskey({ id, nickname, wrapped_identity: wrapped }: Passkey, unlock: UnlockBy) {
  if (wrapped === undefined) return null;
  const act = () => unlock(async () => (await import('./wrapping.js')).unwrapByPasskey(wrapped, id));
  return (
    <ActionButton key={id} class="main" onAct={act}>
      Use the passkey “{nickname}”
    </ActionButton>
  );
}

interface ByPhraseProps {
  readonly recovery: NonNullable<OwnerKeys['recovery']>;
  readonly unlock: UnlockBy;
}

function ByPhrase({ recovery, unlock }: ByPhraseProps) {
  const [text, setText] = useState('');
  const open = () =>
    unlock(async () => {
      const [{ parsePhrase }, { unwrapByPhrase }] = await Promise.all([import('./phrase.js'), import('./wrapping.js')]);
      return unwrapByPhrase(recovery, parsePhrase(text));
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
  const open = () => unlock(async () => (await import('./wrapping.js')).readIdentity(text));
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
