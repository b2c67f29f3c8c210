import { useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Unlock } from './unlock.js';
import type { Identity } from './wrapping.js';

/** The unlocked identity and its setter. It is component state, so it is discarded with the page. */
export type UnlockedIdentity = readonly [identity: Identity | undefined, set: (identity: Identity) => void];

export const useUnlockedIdentity = (): UnlockedIdentity => useState<Identity>();

interface PendingWork {
  /** A sentence that explains why the identity is needed. */
  readonly why: ComponentChildren;
  readonly work: (identity: Identity) => Promise<void>;
}

export interface IdentityPrompt {
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
