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
import type { Signer } from '../../../sealing/value-statement.js';
import { sharedStorage } from '../ui/browser-storage.js';
import type { ObjectMetadata } from './metadata.js';

/** Stores the public keys that this browser has encrypted to, to detect a key that was replaced on the server. */
const STORAGE_KEY = 'trellis-known-keys';

/** The keys of this browser, with the names that its user has given to writers, by their public keys. */
interface BrowserKeys extends KnownKeys {
  readonly writerNames?: Readonly<Record<string, string>>;
}

export function readBrowserKeys(): BrowserKeys {
  try {
    return { ...NO_KNOWN_KEYS, ...(JSON.parse(sharedStorage.getItem(STORAGE_KEY) ?? '{}') as Partial<BrowserKeys>) };
  } catch {
    return NO_KNOWN_KEYS;
  }
}

export const saveBrowserKeys = (keys: BrowserKeys): void =>
  void sharedStorage.setItem(STORAGE_KEY, JSON.stringify(keys));

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

/**
 * The database with the signing key of this browser: a key pair of WebCrypto, whose private key no script can read.
 * Scripts of this origin can sign with it, as long as the browser stores it.
 */
const DATABASE = 'trellis-signing';
const STORE = 'keys';
const KEY = 'own';

/** Returns the key that signs the values of this browser; `undefined` without one. */
export async function findBrowserSigner(): Promise<Signer | undefined> {
  if (typeof indexedDB === 'undefined') return undefined;
  const pair = await withStore('readonly', (store) => store.get(KEY) as IDBRequest<CryptoKeyPair | undefined>);
  return pair && toSigner(pair);
}

/** Creates the key of this browser, or returns the existing one. */
export async function createBrowserSigner(): Promise<Signer> {
  const pair = await generate();
  try {
    await withStore('readwrite', (store) => store.add(pair, KEY));
    return await toSigner(pair);
  } catch (error) {
    // Another tab has created it.
    const existing = await findBrowserSigner();
    if (existing !== undefined) return existing;
    throw error;
  }
}

export async function deleteBrowserSigner(): Promise<void> {
  await withStore('readwrite', (store) => store.delete(KEY));
}

/** @throws Error in browsers without Ed25519. */
async function generate(): Promise<CryptoKeyPair> {
  try {
    return await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify']);
  } catch {
    throw new Error('This browser can’t create signing keys. Use a newer one, or “trellis secrets keygen”.');
  }
}

async function toSigner({ publicKey, privateKey }: CryptoKeyPair): Promise<Signer> {
  const raw = await crypto.subtle.exportKey('raw', publicKey);
  return {
    publicKey: new Uint8Array(raw),
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, bytes)),
  };
}

async function withStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = await toPromise(opening);
  try {
    const transaction = database.transaction(STORE, mode);
    const completed = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('The browser did not store the key.'));
    });
    const [result] = await Promise.all([toPromise(work(transaction.objectStore(STORE))), completed]);
    return result;
  } finally {
    database.close();
  }
}

function toPromise<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('The browser’s database failed.'));
  });
}
