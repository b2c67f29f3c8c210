import { useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Unlock } from './unlock.js';
import type { Identity } from './wrapping.js';

/** An identity as long as a page is shown: what holds it goes with the page, and so does it. */
export type Unlocked = readonly [identity: Identity | undefined, set: (identity: Identity) => void];

export const useUnlocked = (): Unlocked => useState<Identity>();

interface Wanted {
  readonly why: ComponentChildren;
  readonly work: (identity: Identity) => Promise<void>;
}

export interface Asking {
  /** Does the work with the identity, after it was asked for where the page doesn't have it yet. */
  readonly withIdentity: (wanted: Wanted) => Promise<void>;
  /** Where it is asked for; nothing meanwhile. */
  readonly question: ComponentChildren;
}

/** Asks for the identity when it is first needed. */
export function useAsking([identity, setIdentity]: Unlocked): Asking {
  const [wanted, setWanted] = useState<Wanted>();
  const rounds = useRef(0);
  const withIdentity = async (next: Wanted): Promise<void> => {
    if (identity !== undefined) return next.work(identity);
    rounds.current += 1;
    setWanted(next);
  };
  const answer = async (found: Identity): Promise<void> => {
    await wanted?.work(found);
    setIdentity(found);
    setWanted(undefined);
  };
  const question = wanted && (
    <Unlock key={rounds.current} onIdentity={answer}>
      {wanted.why}
    </Unlock>
  );
  return { withIdentity, question };
}
