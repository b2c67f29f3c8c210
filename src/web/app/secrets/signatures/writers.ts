/** The writers that this browser trusts, and the names that it has for them. */
import { addWriter, describeSigner } from '../../../../sealing/authentic-values.js';
import { formatSignerKey, parseSignerKey, toSignerFingerprint } from '../../../../sealing/ssh-signature.js';
import { findBrowserSigner, readBrowserKeys, saveBrowserKeys } from '../browser-keys.js';

export interface Writer {
  /** The public key, `ssh-ed25519 AAAA…`. */
  readonly key: string;
  readonly fingerprint: string;
  readonly name: string | undefined;
  /** Names of secrets, or their start with `*`. */
  readonly patterns: readonly string[];
}

interface WriterList {
  /** The key of this browser. */
  readonly own: Writer | undefined;
  readonly trusted: readonly Writer[];
}

export async function listTrustedWriters(): Promise<WriterList> {
  const { writers = {}, writerNames = {} } = readBrowserKeys();
  const signer = await findBrowserSigner();
  const toWriter = async (key: string): Promise<Writer> => {
    const fingerprint = await toSignerFingerprint(parseSignerKey(key) ?? new Uint8Array());
    return { key, fingerprint, name: writerNames[key], patterns: writers[key] ?? [] };
  };
  const own = signer && (await toWriter((await describeSigner(signer)).key));
  return { own, trusted: await Promise.all(Object.keys(writers).map(toWriter)) };
}

/** Trusts a writer for names. @throws Error for a text that is not a public key of Ed25519. */
export async function trustWriter(
  writer: Pick<Writer, 'key' | 'patterns'> & { readonly name?: string },
): Promise<void> {
  const key = parseSignerKey(writer.key);
  if (key === undefined) throw new Error('Expected an Ed25519 public key: ssh-ed25519 AAAA…');
  const line = formatSignerKey(key);
  let known = readBrowserKeys();
  for (const pattern of writer.patterns) known = { ...known, ...addWriter(known, line, pattern) };
  saveBrowserKeys(known);
  if (writer.name) nameWriter(line, writer.name);
}

export function nameWriter(key: string, name: string): void {
  const known = readBrowserKeys();
  saveBrowserKeys({ ...known, writerNames: { ...known.writerNames, [key]: name } });
}

export function distrustWriter({ key }: Writer): void {
  const known = readBrowserKeys();
  const { [key]: _removed, ...writers } = known.writers ?? {};
  saveBrowserKeys({ ...known, writers });
}
