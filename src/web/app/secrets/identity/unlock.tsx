import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { components } from '../../../../generated/secrets/client.js';
import { requireData } from '../../api.js';
import { ActionButton } from '../../ui/buttons.js';
import { Form, FormError } from '../../ui/form.js';
import { AsyncContent, useResource } from '../../ui/resource.js';
import { secretsClient, useSealingError } from '../secrets.js';
import { ValueField } from '../value-fields.js';
import type { Identity } from './wrapping.js';

/** The unlocked identity and its setter. It is component state, so it is discarded with the page. */
export type UnlockedIdentity = readonly [identity: Identity | undefined, set: (identity: Identity) => void];

export const useUnlockedIdentity = (): UnlockedIdentity => useState<Identity>();

interface PendingWork {
  /** A sentence that explains why the identity is needed. */
  readonly why: ComponentChildren;
  readonly work: (identity: Identity) => Promise<void>;
}

interface IdentityPrompt {
  /** Runs the work with the identity. If the page doesn't have the identity yet, the user is asked for it first. */
  readonly withIdentity: (pending: PendingWork) => Promise<void>;
  /** The form that asks for the identity; `undefined` while it isn't needed. */
  readonly prompt: ComponentChildren;
}

/** Asks for the identity when it is needed for the first time. */
export function useIdentityPrompt([identity, setIdentity]: UnlockedIdentity): IdentityPrompt {
  const [pending, setPending] = useState<PendingWork>();
  const requests = useRef(0);
  const withIdentity = async (next: PendingWork): Promise<void> => {
    if (identity !== undefined) return next.work(identity);
    requests.current += 1;
    setPending(next);
  };
  const resume = async (found: Identity): Promise<void> => {
    await pending?.work(found);
    setIdentity(found);
    setPending(undefined);
  };
  const question = pending && (
    <Unlock key={requests.current} onIdentity={resume}>
      {pending.why}
    </Unlock>
  );
  return { withIdentity, prompt: question };
}

interface UnlockProps {
  /** A sentence that explains why the identity is needed. */
  readonly children: ComponentChildren;
  readonly onIdentity: (identity: Identity) => Promise<void>;
}

/**
 * Asks for the owner's identity: by a passkey, by the recovery phrase or by pasting it. The identity goes to the caller
 * only, neither to browser storage nor into a request.
 */
function Unlock({ children, onIdentity }: UnlockProps) {
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
      <FormError problem={problem} />
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

type Schemas = components['schemas'];
export type StoredPasskey = Schemas['Credential'];

/** The data that the server stores about the owner's identity. It can decrypt none of it. */
export interface OwnerKeyData {
  /** Omitted while there is no identity. */
  readonly publicKey?: string;
  /** The identity, wrapped with the recovery phrase: an armored age file. */
  readonly recovery?: string;
  readonly passkeys: readonly StoredPasskey[];
}

export async function loadOwnerKeys(): Promise<OwnerKeyData> {
  const [identity, passkeys] = await Promise.all([
    secretsClient.GET('/auth/identity'),
    secretsClient.GET('/credentials', { params: { query: { limit: 500 } } }),
  ]);
  const { public_key: publicKey, recovery_wrapped_identity: recovery } = requireData(identity);
  return { publicKey, recovery, passkeys: requireData(passkeys) };
}

/** Saves keys and wrapped copies, and returns the stored state. A stored recovery copy is never replaced. */
export async function saveOwnerIdentity(body: Schemas['KeepIdentityRequest']): Promise<Schemas['OwnerIdentity']> {
  return requireData(await secretsClient.PUT('/auth/identity', { body }));
}
