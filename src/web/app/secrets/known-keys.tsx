import { signal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import {
  addKnownKeys,
  type CheckKeys,
  findKeyChanges,
  type KeyChange,
  keyChangedError,
  type KnownKeys,
  NO_KNOWN_KEYS,
  type PartyKey,
} from '../../../sealing/known-keys.js';
import type { ObjectMetadata } from './names.js';

/** Stores the public keys that this browser has encrypted to, to detect a key that was replaced on the server. */
const STORAGE_KEY = 'trellis-known-keys';

/** The keys of this browser, with the names that its user has given to writers, by their public keys. */
export interface BrowserKeys extends KnownKeys {
  readonly writerNames?: Readonly<Record<string, string>>;
}

export function readBrowserKeys(): BrowserKeys {
  try {
    return { ...NO_KNOWN_KEYS, ...(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<BrowserKeys>) };
  } catch {
    return NO_KNOWN_KEYS;
  }
}

export const saveBrowserKeys = (keys: BrowserKeys): void => localStorage.setItem(STORAGE_KEY, JSON.stringify(keys));

/** Records keys that were used, or that the user of this browser registered. */
export const rememberKeys = (keys: readonly PartyKey[]): void => saveBrowserKeys(addKnownKeys(readBrowserKeys(), keys));

/**
 * Compares the keys that the service reports with the ones used before, and asks before a value is
 * encrypted to a changed one. `replaced` is the secret whose value is replaced, if any.
 */
export const createBrowserKeyCheck =
  (replaced?: ObjectMetadata): CheckKeys =>
  async (keys) => {
    const comparison = { recordedRecipients: replaced?.recipients, previousConsumers: replaced?.used_by };
    const changes = findKeyChanges(keys, { known: readBrowserKeys(), ...comparison });
    if (changes.length > 0 && !(await askToAccept(changes))) throw keyChangedError(changes);
    rememberKeys(keys);
  };

interface Question {
  readonly changes: readonly KeyChange[];
  readonly settle: (isAccepted: boolean) => void;
}

const question = signal<Question>();

const askToAccept = (changes: readonly KeyChange[]): Promise<boolean> =>
  new Promise((resolve) => {
    question.value?.settle(false);
    const settle = (isAccepted: boolean): void => {
      question.value = undefined;
      resolve(isAccepted);
    };
    question.value = { changes, settle };
  });

/** Asks about changed keys while a value waits to be encrypted. */
export function KeyChangeConfirmation() {
  const asked = question.value;
  return asked && <KeyChangeDialog {...asked} />;
}

function KeyChangeDialog({ changes, settle }: Question) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="key-change" aria-labelledby={id} onClose={() => settle(false)}>
      <h2 id={id}>
        {changes.length === 1 ? 'A public key has changed' : `${changes.length} public keys have changed`}
      </h2>
      <p>Ask the holder of each new key to confirm it. The holder of a new key will be able to read this value.</p>
      <dl>
        {changes.map(({ consumer, publicKey, knownKey }) => (
          <div key={consumer ?? ''}>
            <dt>{consumer ?? 'Owner'}</dt>
            <dd>
              Before: <code>{knownKey ?? 'a key that the value was encrypted to'}</code>
            </dd>
            <dd>
              Now: <code>{publicKey}</code>
            </dd>
          </div>
        ))}
      </dl>
      <div class="row wrapping">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => settle(true)}>
          {changes.length === 1 ? 'Accept the new key' : 'Accept the new keys'}
        </button>
      </div>
    </dialog>
  );
}
