/**
 * The signing key of this browser: a key pair of WebCrypto in IndexedDB, whose private key no script can read. Scripts of
 * this origin can sign with it, as long as the browser stores it.
 */
import type { Signer } from '../../../../sealing/value-statement.js';

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

const toPromise = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('The browser’s database failed.'));
  });
